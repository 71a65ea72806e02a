"""Tables of Delta Lake and Apache Iceberg: their jars come from Maven Central, see brokers/jars.py."""
