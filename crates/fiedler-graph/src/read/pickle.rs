//! Python pickles read as data; nothing in them is ever run.
