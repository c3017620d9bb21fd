//! Every reader on files of its format: small ones written here, and the published ones where `FIEDLER_DATA` is set.

mod bad_input;
mod catalogue;
mod common;
mod edge_list;
mod fiedler;
mod fuzz;
mod gexf;
mod gml;
mod gnn_benchmark;
mod graph_saint;
mod graphml;
mod heterophilous;
mod inputs;
mod matrix_market;
mod moleculenet;
mod node_link;
mod ogb;
mod planetoid;
mod powerful_gnns;
mod pyg;
mod round_trip;
mod scipy_npz;
mod struc2vec;
mod tu;
mod wiki_cs;
mod writers;
