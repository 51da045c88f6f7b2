"""Scripts that measure. A package, since pyarrow up to 17 installs one of the same name, which would come first."""
