"""The wheel in fresh environments: every version of Python with every version of Spark. See `__main__.py`."""
