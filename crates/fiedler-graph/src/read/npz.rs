//! Arrays from npy and npz files.
