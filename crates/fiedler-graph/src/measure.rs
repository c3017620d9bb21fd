//! Numbers that describe a graph.
