//! Tests of the library as programs see it.
