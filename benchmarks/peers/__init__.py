"""Other engines that Trellis is measured beside: how they are had, started, asked and stopped."""
