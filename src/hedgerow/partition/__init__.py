"""Methods that divide the domain into boxes and count them privately."""
