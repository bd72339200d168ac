"""What people call things: words folded, looked up, and turned into devices."""
