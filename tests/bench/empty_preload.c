// What preloading costs by itself: a library that does nothing.
