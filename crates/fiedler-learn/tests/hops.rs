//! Embeddings without training: hops and spectral, on special cases, against exact decompositions, with the same bits on any number of
//! threads, and applied by what they stored.
#![allow(clippy::unwrap_used)]

use faer::Mat;
use fiedler_graph::random::stream;
use fiedler_graph::{Dataset, Dense, Features, Graph, NoObserver, RowSource, Sparse, StoredFeatures, measure};
use fiedler_learn::data::FeatureSettings;
use fiedler_learn::method::{Grace, Hops, MethodSettings, Raw, Spectral};
use fiedler_learn::run::{Run, RunResult, Settings};
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::{
    EigenvectorSettings, Embeddings, Error, Normalization, Operator, STRUCTURAL_COLUMNS, SavedEncoder, eigenvectors,
    eigenvectors_watched, structural_features,
};
use rand::RngExt;

fn settings(method: impl Into<MethodSettings>) -> Settings {
    Settings { method: method.into(), ..Settings::default() }
}

fn fit(dataset: &Dataset, method: impl Into<MethodSettings>) -> RunResult {
    Run::new(&settings(method), dataset).fit().unwrap()
}

fn random_graph(nodes: u32, edges: usize, seed: u64) -> Graph {
    with_isolated(nodes, edges, seed, 0)
}

/// A random graph, and so many nodes that no edge has.
fn with_isolated(nodes: u32, edges: usize, seed: u64, isolated: usize) -> Graph {
    let mut random = stream(seed, "test graph", 0);
    let pairs = (0..edges).map(|_| (random.random_range(0..nodes), random.random_range(0..nodes)));
    Graph::from_pairs(nodes as usize + isolated, pairs.filter(|(a, b)| a != b).collect()).unwrap().0
}

/// A graph with dense features of a low rank and noise.
fn with_dense(nodes: u32, columns: usize, seed: u64) -> Dataset {
    let mut dataset = Dataset::single("random", random_graph(nodes, 3 * nodes as usize, seed));
    let mut random = stream(seed, "test features", 0);
    let values = (0..nodes as usize * columns).map(|at| {
        let (row, column) = (at / columns, at % columns);
        ((row * 7 % 11) as f32 * 0.3 + column as f32).sin() + 0.3 * random.random::<f32>()
    });
    dataset.features = Some(Features::Dense(Dense::new(nodes as usize, columns, values.collect()).unwrap()));
    dataset
}

fn with_sparse(nodes: u32, columns: usize, of_row: usize, seed: u64) -> Dataset {
    let mut dataset = Dataset::single("random", random_graph(nodes, 3 * nodes as usize, seed));
    let mut random = stream(seed, "test features", 1);
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..nodes {
        let mut row: Vec<u32> = (0..of_row).map(|_| random.random_range(0..columns as u32)).collect();
        row.sort_unstable();
        row.dedup();
        values.extend(row.iter().map(|_| 1.0 + random.random::<f32>()));
        indices.extend(row);
        indptr.push(indices.len());
    }
    dataset.features = Some(Features::Sparse(Sparse::new(columns, indptr, indices, values).unwrap()));
    dataset
}

/// Multi-hop features by their definition in 64 bits, with exact decompositions, less rotations: what is compared are inner products.
fn plain_hops(dataset: &Dataset, hops: &[usize], dimensions: usize) -> Mat<f64> {
    let dense = dataset.features.as_ref().unwrap().to_dense();
    let (rows, columns) = (dense.rows(), dense.columns());
    let mut x = Mat::from_fn(rows, columns, |row, column| f64::from(dense.row(row)[column]));
    unit_rows(&mut x);
    let z = scores(&x, dimensions);
    let operator = Operator::new(dataset.graph().unwrap(), Normalization::Symmetric);
    let mut p = Mat::<f64>::zeros(rows, rows);
    for row in 0..rows {
        let (columns, values) = operator.row(row);
        columns.iter().zip(values).for_each(|(&column, &value)| p[(row, column as usize)] = value.into());
    }
    let mut inner = Mat::<f64>::zeros(rows, rows);
    for &hop in hops {
        let image = (0..hop).fold(z.clone(), |image, _| &p * &image);
        let mut block = scores(&image, dimensions / hops.len());
        unit_rows(&mut block);
        inner += &block * block.transpose();
    }
    inner
}

fn unit_rows(matrix: &mut Mat<f64>) {
    for row in 0..matrix.nrows() {
        let length = (0..matrix.ncols()).map(|column| matrix[(row, column)].powi(2)).sum::<f64>().sqrt();
        if length > 0.0 {
            (0..matrix.ncols()).for_each(|column| matrix[(row, column)] /= length);
        }
    }
}

/// U·S of the centered matrix.
fn scores(matrix: &Mat<f64>, dimensions: usize) -> Mat<f64> {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    let means: Vec<f64> =
        (0..columns).map(|column| (0..rows).map(|row| matrix[(row, column)]).sum::<f64>() / rows as f64).collect();
    let centered = Mat::from_fn(rows, columns, |row, column| matrix[(row, column)] - means[column]);
    let svd = centered.thin_svd().unwrap();
    let kept = dimensions.min(rows.min(columns));
    Mat::from_fn(rows, kept, |row, column| svd.U()[(row, column)] * svd.S().column_vector()[column])
}

/// The largest difference of inner products of rows.
fn apart(embeddings: &Embeddings, expected: &Mat<f64>) -> f64 {
    let mut worst = 0.0f64;
    for a in 0..embeddings.rows() {
        for b in 0..embeddings.rows() {
            let pairs = embeddings.row(a).iter().zip(embeddings.row(b));
            let inner: f64 = pairs.map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
            worst = worst.max((inner - expected[(a, b)]).abs());
        }
    }
    worst
}

#[test]
fn hops_are_what_their_definition_says() {
    for rotate in [true, false] {
        let dataset = with_dense(90, 12, 1);
        let method = Hops { hops: vec![2, 0, 1], dimensions: 18, rotate, ..Hops::default() };
        let found = fit(&dataset, method);
        assert_eq!(found.embeddings.columns(), 18);
        let off = apart(&found.embeddings, &plain_hops(&dataset, &[2, 0, 1], 18));
        assert!(off < 2e-3, "{off}");
    }
}

#[test]
fn the_range_finder_agrees_with_exact_components_where_the_rank_is_low() {
    // Four times as many columns as are decomposed exactly, of rank 20.
    let (nodes, columns, rank) = (150usize, 1100, 20);
    let mut random = stream(3, "low rank", 0);
    let mut draw = |count: usize| -> Vec<f32> { (0..count).map(|_| random.random::<f32>() - 0.5).collect() };
    let (left, right) = (draw(nodes * rank), draw(rank * columns));
    let mut values = vec![0.0f32; nodes * columns];
    for row in 0..nodes {
        for at in 0..rank {
            for column in 0..columns {
                values[row * columns + column] += left[row * rank + at] * right[at * columns + column];
            }
        }
    }
    let mut dataset = Dataset::single("low rank", random_graph(nodes as u32, 400, 3));
    dataset.features = Some(Features::Dense(Dense::new(nodes, columns, values).unwrap()));
    let found = fit(&dataset, Hops { hops: vec![0, 2], dimensions: 60, ..Hops::default() });
    let off = apart(&found.embeddings, &plain_hops(&dataset, &[0, 2], 60));
    assert!(off < 5e-3, "{off}");
}

#[test]
fn sparse_and_dense_features_give_the_same() {
    for columns in [40, 900] {
        let sparse = with_sparse(200, columns, 6, 5);
        let mut dense = sparse.clone();
        dense.features = Some(Features::Dense(sparse.features.as_ref().unwrap().to_dense()));
        // As many components as there are: of a part of components that are equally strong, which ones they are is chance.
        let method = Hops { dimensions: 1000, ..Hops::default() };
        let (one, other) = (fit(&sparse, method.clone()).embeddings, fit(&dense, method).embeddings);
        let inner = |embeddings: &Embeddings, a: usize, b: usize| -> f32 {
            embeddings.row(a).iter().zip(embeddings.row(b)).map(|(a, b)| a * b).sum()
        };
        let difference: f32 =
            (0..200).map(|row| (inner(&one, row, 0) - inner(&other, row, 0)).abs()).sum::<f32>() / 200.0;
        assert!(difference < 0.01, "{columns} columns: {difference}");
    }
}

#[test]
fn bits_are_equal_on_one_thread_and_on_several() {
    let many = with_sparse(3000, 1500, 8, 7);
    let bare = Dataset::single("bare", random_graph(2500, 6000, 8));
    for (dataset, method) in [
        (&many, MethodSettings::from(Hops { dimensions: 100, ..Hops::default() })),
        (&bare, Hops::default().into()),
        (&many, Spectral { eigenvectors: 16, propagated: vec![1], ..Spectral::default() }.into()),
    ] {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit(dataset, method.clone()))
        };
        let (one, two, three) = (on(1), on(2), on(3));
        assert_eq!(one.embeddings, two.embeddings, "{}", method.name());
        assert_eq!(one.embeddings, three.embeddings, "{}", method.name());
        assert_eq!(one.encoder.to_bytes().unwrap(), two.encoder.to_bytes().unwrap());
    }
}

/// Features in memory that are handed out some rows at a time, as a file would; not any more after so many times.
#[derive(Debug)]
struct Handed(Features, std::sync::atomic::AtomicUsize);

impl RowSource for Handed {
    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn columns(&self) -> usize {
        self.0.columns()
    }

    fn entries(&self) -> Option<usize> {
        if let Features::Sparse(sparse) = &self.0 { Some(sparse.values().len()) } else { None }
    }

    fn read(&self, rows: std::ops::Range<usize>) -> fiedler_graph::Result<Features> {
        if self.1.fetch_sub(1, std::sync::atomic::Ordering::SeqCst) == 0 {
            let (place, found, expected) = ("here".into(), "nothing".into(), "rows".into());
            return Err(fiedler_graph::Error::Unreadable { place, found, expected });
        }
        Ok(self.0.gather(&rows.map(|row| row as u32).collect::<Vec<_>>()))
    }
}

/// The same dataset with features that are read some rows at a time, so often.
fn handed(dataset: &Dataset, times: usize) -> Dataset {
    let mut dataset = dataset.clone();
    let features = dataset.features.take().unwrap();
    dataset.stored_features = Some(StoredFeatures::new(Handed(features, times.into())).unwrap());
    dataset
}

#[test]
fn features_that_are_read_some_rows_at_a_time_give_the_same_bytes() {
    // An exact decomposition and a range finder, of dense rows, sparse ones, and such as are written out.
    let cases = [
        (with_dense(3000, 40, 1), 30),
        (with_dense(2500, 300, 2), 20),
        (with_sparse(2500, 60, 5, 3), 30),
        (with_sparse(2100, 900, 12, 4), 32),
        (with_sparse(1500, 10, 9, 5), 10),
    ];
    for (whole, dimensions) in cases {
        let hops = Hops { dimensions, hops: vec![0, 1, 3], pca_iterations: 2, ..Hops::default() };
        let streamed = handed(&whole, usize::MAX);
        let (one, other) = (fit(&whole, hops.clone()), fit(&streamed, hops));
        assert!(one.embeddings.columns() > 3);
        assert_eq!(one.embeddings, other.embeddings);
        assert_eq!(one.encoder.to_bytes().unwrap(), other.encoder.to_bytes().unwrap());
        // Stored projections read them as well.
        let applied = other.encoder.embed(&streamed).unwrap();
        assert_eq!(applied, one.encoder.embed(&whole).unwrap());
    }
}

#[test]
fn features_that_cannot_be_read_any_more_end_a_run() {
    let whole = with_dense(3000, 40, 1);
    let hops = Hops { dimensions: 30, ..Hops::default() };
    let mut ended = 0;
    for times in 1..12 {
        let run = settings(hops.clone());
        let dataset = handed(&whole, times);
        match Run::new(&run, &dataset).fit() {
            Ok(_) => break,
            Err(Error::Graph(fiedler_graph::Error::Unreadable { .. })) => ended += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(ended > 5, "{ended}");
}

#[test]
fn only_what_reads_rows_takes_features_that_stay_in_their_file() {
    let streamed = handed(&with_dense(50, 4, 1), usize::MAX);
    let refusal = |settings: &Settings| Run::new(settings, &streamed).check().err().unwrap().to_string();
    assert!(refusal(&settings(Grace::default())).contains("hops: only this reads"));
    let mut prepared = settings(Hops::default());
    prepared.features.normalize_rows = true;
    assert!(refusal(&prepared).contains("as they are given"));
    let mut composed = settings(Hops::default());
    composed.features.sources = "given+spectral:4".parse().unwrap();
    assert!(refusal(&composed).contains("as they are given"));
    let encoder = fit(&with_dense(50, 4, 1), Raw::default()).encoder;
    assert!(encoder.embed(&streamed).unwrap_err().to_string().contains("hops"));
}

#[test]
fn stored_projections_give_what_the_fit_gave_and_apply_to_other_graphs() {
    let dataset = with_sparse(300, 700, 6, 9);
    let bare = Dataset::single("bare", random_graph(300, 900, 9));
    for (dataset, method) in [
        (&dataset, MethodSettings::from(Hops { dimensions: 50, ..Hops::default() })),
        (&bare, Hops::default().into()),
        (&dataset, Spectral::default().into()),
        (&dataset, Spectral { propagated: vec![0, 2], ..Spectral::default() }.into()),
    ] {
        let found = fit(dataset, method.clone());
        let read = SavedEncoder::from_bytes(&found.encoder.to_bytes().unwrap()).unwrap();
        assert_eq!(read.embed(dataset).unwrap(), found.embeddings, "{}", method.name());
        let other = if dataset.features.is_some() {
            with_sparse(77, 700, 9, 10)
        } else {
            Dataset::single("x", random_graph(77, 99, 3))
        };
        let elsewhere = read.embed(&other).unwrap();
        assert_eq!((elsewhere.rows(), elsewhere.columns()), (77, found.embeddings.columns()));
        assert!(elsewhere.are_finite());
    }
    // Other columns than those it was fitted to.
    let found = fit(&dataset, Hops::default()).encoder;
    assert!(matches!(found.embed(&with_sparse(77, 701, 9, 10)), Err(Error::OtherFeatures { .. })));
}

/// The rows of dense features, of which the last column is left out where asked, and then rows of zeros.
fn as_sparse(dense: &Dense, last_column: bool, zeros: usize) -> Features {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..dense.rows() {
        let kept = dense.columns() - usize::from(!last_column);
        let entries = dense.row(row)[..kept].iter().enumerate().filter(|(_, value)| **value != 0.0);
        for (column, &value) in entries {
            indices.push(column as u32);
            values.push(value);
        }
        indptr.push(indices.len());
    }
    indptr.extend(std::iter::repeat_n(indices.len(), zeros));
    Features::Sparse(Sparse::new(dense.columns(), indptr, indices, values).unwrap())
}

#[test]
fn projections_of_sparse_features_apply_to_dense_ones() {
    // Sparse features that do not use the last column.
    let mut fitted = with_sparse(80, 20, 3, 5);
    fitted.features = Some(as_sparse(&fitted.features.unwrap().to_dense(), false, 0));
    let encoder = fit(&fitted, Hops { dimensions: 20, ..Hops::default() }).encoder;
    // Features that use every column, held densely; and the same beside so many rows of zeros that they are held sparsely.
    let other = with_dense(60, 20, 6);
    let mut beside_isolated = Dataset::single("x", with_isolated(60, 180, 6, 200));
    beside_isolated.features = Some(as_sparse(&other.features.as_ref().unwrap().to_dense(), true, 200));
    let (dense, sparse) = (encoder.embed(&other).unwrap(), encoder.embed(&beside_isolated).unwrap());
    for row in 0..60 {
        let apart = dense.row(row).iter().zip(sparse.row(row)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 1e-5, "row {row}: {apart}");
    }
}

#[test]
fn damaged_projections_are_refused() {
    let found = fit(&with_sparse(60, 80, 5, 2), Hops { dimensions: 20, ..Hops::default() });
    let whole = StateDict::from_bytes(&found.encoder.to_bytes().unwrap()).unwrap();
    let damage = |name: &str, shape: Vec<usize>| {
        let mut damaged = whole.clone();
        let count = shape.iter().product();
        damaged.insert(name, shape, vec![0.5; count]).unwrap();
        let read = SavedEncoder::from_bytes(&damaged.to_bytes().unwrap()).unwrap();
        read.embed(&with_sparse(60, 80, 5, 2)).unwrap_err()
    };
    for (name, shape) in [
        ("features.used", vec![80]),
        ("features.used", vec![3]),
        ("features.input.mean", vec![2]),
        ("features.input.components", vec![1, 1]),
        ("features.blocks.1.components", vec![3, 4]),
        ("features.blocks.0.mean", vec![1, 1]),
    ] {
        assert!(matches!(damage(name, shape), Error::StateDict { .. }), "{name}");
    }
}

#[test]
fn special_cases_have_an_embedding() {
    let one = Dataset::single("one", Graph::empty(1));
    let mut one_with = one.clone();
    one_with.features = Some(Features::Dense(Dense::new(1, 3, vec![1.0, 2.0, 3.0]).unwrap()));
    let mut constant = Dataset::single("constant", random_graph(50, 80, 1));
    constant.features = Some(Features::Dense(Dense::new(50, 2, vec![0.3; 100]).unwrap()));
    let mut zero = constant.clone();
    zero.features = Some(Features::Sparse(Sparse::new(5, vec![0; 51], Vec::new(), Vec::new()).unwrap()));
    let mut two_columns = with_dense(40, 2, 3);
    two_columns.name = "two columns".into();
    let mut isolated = with_dense(40, 8, 4);
    isolated.graphs = fiedler_graph::GraphSet::single(Graph::empty(40));
    let mut some_zero = with_sparse(40, 30, 3, 4);
    let Some(Features::Sparse(sparse)) = &some_zero.features else { panic!("sparse") };
    let (indptr, first) = (sparse.indptr(), sparse.indptr()[10]);
    let shifted = indptr.iter().map(|&at| at.saturating_sub(first)).collect();
    let rest = (sparse.indices()[first..].to_vec(), sparse.values()[first..].to_vec());
    some_zero.features = Some(Features::Sparse(Sparse::new(30, shifted, rest.0, rest.1).unwrap()));
    let categories = fiedler_graph::Categorical::new(vec![3, 2], (0..80).map(|at| (at % 2) as u8).collect()).unwrap();
    let mut categorical = Dataset::single("categorical", random_graph(40, 80, 1));
    categorical.features = Some(Features::Categorical(categories));
    for dataset in [&one, &one_with, &constant, &zero, &two_columns, &isolated, &some_zero, &categorical] {
        for method in [MethodSettings::from(Hops::default()), Spectral::default().into()] {
            let found = fit(dataset, method.clone());
            let name = &dataset.name;
            assert!(found.embeddings.are_finite() && found.embeddings.columns() > 0, "{name}");
            assert_eq!(found.embeddings.rows(), dataset.graphs.num_nodes());
            assert_eq!(found.encoder.embed(dataset).unwrap(), found.embeddings, "{name}");
        }
    }
    // Two columns give two components, which are one column of a direction after centering at most two.
    assert!(fit(&two_columns, Hops::default()).embeddings.columns() <= 10);
    // Rows of zeros are at the mean's place, whatever that is.
    let found = fit(&some_zero, Hops { hops: vec![0], ..Hops::default() }).embeddings;
    assert_eq!(found.row(0), found.row(9));
}

#[test]
fn a_million_sparse_columns_take_no_more_than_those_that_occur() {
    let dataset = with_sparse(120, 1_000_000, 5, 11);
    let found = fit(&dataset, Hops::default());
    let weights = StateDict::from_bytes(&found.encoder.to_bytes().unwrap()).unwrap();
    let (rows, columns) =
        (weights.shape("features.input.components").unwrap()[0], weights.shape("features.used").unwrap()[0]);
    assert!(rows <= 600 && columns == 1_000_000, "{rows} of {columns}");
    assert_eq!(found.encoder.embed(&dataset).unwrap(), found.embeddings);
}

#[test]
fn settings_out_of_range_are_refused() {
    let dataset = with_dense(20, 4, 1);
    for (method, name) in [
        (MethodSettings::from(Hops { hops: vec![], ..Hops::default() }), "hops"),
        (Hops { hops: vec![5000], ..Hops::default() }.into(), "hops"),
        (Hops { dimensions: 4, ..Hops::default() }.into(), "dimensions"),
        (Hops { eigenvectors: 0, ..Hops::default() }.into(), "eigenvectors"),
        (Spectral { power: -1.0, ..Spectral::default() }.into(), "power"),
        (Spectral { eigenvectors: 100_000, ..Spectral::default() }.into(), "eigenvectors"),
    ] {
        let error = Run::new(&settings(method), &dataset).fit().unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
    }
}

#[test]
fn structural_features_agree_with_their_definition() {
    for seed in 0..6 {
        let nodes = 24u32;
        let graph = random_graph(nodes, 20 + 12 * seed as usize, seed);
        let found = structural_features(&graph).unwrap();
        let has = |a: u32, b: u32| graph.has_edge(a, b);
        let triangles = |node: u32| {
            let others = graph.neighbors(node);
            others
                .iter()
                .flat_map(|&a| others.iter().map(move |&b| (a, b)))
                .filter(|&(a, b)| a < b && has(a, b))
                .count()
        };
        // The core number by its definition: remove nodes of fewer neighbors until none is left.
        let core = |node: u32| {
            (0..nodes as usize)
                .take_while(|&k| {
                    let mut inside = vec![true; nodes as usize];
                    loop {
                        let out: Vec<u32> = (0..nodes)
                            .filter(|&other| {
                                let left = graph.neighbors(other).iter().filter(|&&next| inside[next as usize]).count();
                                inside[other as usize] && left < k
                            })
                            .collect();
                        if out.is_empty() {
                            break;
                        }
                        out.iter().for_each(|&other| inside[other as usize] = false);
                    }
                    inside[node as usize]
                })
                .count()
                - 1
        };
        assert_eq!(measure::core_numbers(&graph), (0..nodes).map(|node| core(node) as u32).collect::<Vec<u32>>());
        let ranks = measure::page_rank(&graph);
        let own = |node: u32| -> [f64; 5] {
            let degree = graph.degree(node) as f64;
            let pairs = degree * (degree - 1.0) / 2.0;
            let clustering = if pairs > 0.0 { triangles(node) as f64 / pairs } else { 0.0 };
            let rank = (f64::from(nodes) * ranks[node as usize]).ln();
            [degree.ln_1p(), (triangles(node) as f64).ln_1p(), clustering, (core(node) as f64).ln_1p(), rank]
        };
        let near = |node: u32| -> [f64; 5] {
            let others = graph.neighbors(node);
            std::array::from_fn(|at| {
                others.iter().map(|&other| own(other)[at]).sum::<f64>() / others.len().max(1) as f64
            })
        };
        for node in 0..nodes {
            let others = graph.neighbors(node);
            let far: [f64; 5] = std::array::from_fn(|at| {
                others.iter().map(|&other| near(other)[at]).sum::<f64>() / others.len().max(1) as f64
            });
            let degrees = || others.iter().map(|&other| graph.degree(other));
            let sums = [
                degrees().sum::<usize>() as f64,
                others.iter().map(|&other| triangles(other)).sum::<usize>() as f64,
                degrees().max().unwrap_or(0) as f64,
                degrees().min().unwrap_or(0) as f64,
            ];
            let expected = own(node).into_iter().chain(near(node)).chain(far).chain(sums.map(f64::ln_1p));
            let row = found.row(node as usize);
            assert_eq!(row.len(), STRUCTURAL_COLUMNS);
            for (at, (value, expected)) in row.iter().zip(expected).enumerate() {
                assert!((f64::from(*value) - expected).abs() < 1e-5, "node {node}, column {at}: {value}, {expected}");
            }
        }
    }
}

#[test]
fn eigenvectors_have_fixed_signs_and_bases() {
    // A ring: all eigenvalues but the outermost are double.
    let ring = Graph::from_pairs(30, (0..30).map(|node| (node, (node + 1) % 30)).collect()).unwrap().0;
    let settings = EigenvectorSettings { eigenvectors: 5, power: 0.0, ..EigenvectorSettings::default() };
    let found = eigenvectors(&ring, &settings).unwrap();
    for column in 0..5 {
        let values: Vec<f32> = (0..30).map(|row| found.row(row)[column]).collect();
        let largest = values.iter().copied().reduce(|a, b| if b.abs() > a.abs() + 1e-5 { b } else { a }).unwrap();
        assert!(largest > 0.0, "column {column}: {values:?}");
        // Neighbors on the ring: (x[i-1] + x[i+1]) / 2 is the eigenvalue times x[i].
        let eigenvalue = (std::f32::consts::TAU * column.div_ceil(2) as f32 / 30.0).cos();
        for row in 0..30 {
            let around = (values[(row + 29) % 30] + values[(row + 1) % 30]) / 2.0;
            assert!((around - eigenvalue * values[row]).abs() < 1e-4);
        }
    }
    // More columns than nodes are zeros; rows have length one on average.
    let small = eigenvectors(&ring, &EigenvectorSettings { eigenvectors: 40, ..settings }).unwrap();
    assert!((0..30).all(|row| small.row(row)[30..].iter().all(|&value| value == 0.0)));
    let lengths: f32 = (0..30).map(|row| small.row(row).iter().map(|value| value * value).sum::<f32>().sqrt()).sum();
    assert!((lengths / 30.0 - 1.0).abs() < 1e-4);
    // Small components do not crowd out what varies within the large one.
    let long: Vec<(u32, u32)> = (0..149).map(|node| (node, node + 1)).collect();
    let whole = eigenvectors(&Graph::from_pairs(150, long.clone()).unwrap().0, &settings).unwrap();
    let pairs: Vec<(u32, u32)> = long.into_iter().chain((0..60).map(|pair| (150 + 2 * pair, 151 + 2 * pair))).collect();
    // Isolated nodes lead from the dense solver to the one that iterates.
    for nodes in [400, 700] {
        let scattered = eigenvectors(&Graph::from_pairs(nodes, pairs.clone()).unwrap().0, &settings).unwrap();
        let ratio = scattered.row(0)[0] / whole.row(0)[0];
        for row in 0..150 {
            for (a, b) in scattered.row(row).iter().zip(whole.row(row)) {
                // Ends of a path are alike: which one is positive may depend on the last digits.
                assert!(
                    (a.abs() - ratio * b.abs()).abs() < 1e-2 * ratio,
                    "{nodes} nodes, row {row}: {a}, {}",
                    ratio * b
                );
            }
        }
    }
    // Isolated nodes have no part in the eigenvectors of the Laplacian.
    let lone = eigenvectors(&Graph::from_pairs(4, vec![(0, 1)]).unwrap().0, &EigenvectorSettings::default()).unwrap();
    assert!(lone.row(2).iter().chain(lone.row(3)).all(|&value| value == 0.0));
}

#[test]
fn sources_compose_and_are_computed_again_for_other_graphs() {
    let dataset = with_sparse(80, 30, 4, 6);
    let sources = |text: &str| FeatureSettings { sources: text.parse().unwrap(), ..FeatureSettings::default() };
    let columns = |text: &str, dataset: &Dataset| {
        let settings = Settings { features: sources(text), ..settings(Raw::default()) };
        let found = Run::new(&settings, dataset).fit().unwrap();
        assert_eq!(found.encoder.embed(dataset).unwrap(), found.embeddings);
        found.embeddings.columns()
    };
    assert_eq!(columns("given", &dataset), 30);
    assert_eq!(columns("given+structural+spectral:8", &dataset), 30 + 19 + 8);
    assert_eq!(columns("degrees+structural", &dataset), 101 + 19);
    let bare = Dataset::single("bare", random_graph(50, 100, 2));
    assert_eq!(columns("structural+spectral:64", &bare), 19 + 64);
    // A set: every graph has its own.
    let pairs = Graph::from_pairs(7, vec![(0, 1), (1, 2), (3, 4), (4, 5), (5, 6)]).unwrap().0;
    let set = Dataset::set("two paths", fiedler_graph::GraphSet::from_block_diagonal(pairs, vec![3, 4]).unwrap());
    assert_eq!(columns("structural+spectral:2", &set), 19 + 2);
    let refused = Settings { features: sources("given+structural"), ..settings(Hops::default()) };
    assert!(Run::new(&refused, &bare).fit().unwrap_err().to_string().contains("no features"));
    for bad in ["", "given+", "spectral:0", "spectral:x", "given+given", "words"] {
        assert!(bad.parse::<fiedler_learn::FeatureSources>().is_err(), "{bad:?}");
    }
    // An encoder that is stored with sources computes them of a new graph; other methods have them too.
    let mut dgi = settings(fiedler_learn::method::Dgi::default());
    dgi.features = sources("given+spectral:4");
    dgi.training.epochs = 2;
    let found = Run::new(&dgi, &dataset).fit().unwrap();
    let read = SavedEncoder::from_bytes(&found.encoder.to_bytes().unwrap()).unwrap();
    assert_eq!(read.embed(&dataset).unwrap(), found.embeddings);
    assert_eq!(read.embed(&with_sparse(31, 30, 4, 7)).unwrap().rows(), 31);
    let text = serde_json::to_string(&dgi).unwrap();
    assert!(text.contains("given+spectral:4") && serde_json::from_str::<Settings>(&text).unwrap() == dgi);
    assert!(serde_json::to_string(&Settings::default()).unwrap().contains("\"sources\":\"auto\""));
}

#[test]
fn hops_on_cora_reach_what_was_measured() {
    use std::io::Write;
    if std::env::var_os("FIEDLER_DATA").is_none() {
        let _ = writeln!(std::io::stderr(), "skipped: hops on cora (FIEDLER_DATA is not set)");
        return;
    }
    let cora = fiedler_io::open("cora", &Default::default(), 0).unwrap();
    let found = fit(&cora, Hops::default()).embeddings.to_dense().unwrap();
    let target = fiedler_evaluate::Target::of(&cora).unwrap();
    let protocol =
        fiedler_evaluate::protocol::RandomSplits { splits: 3, train: 0.1, validation: 0.1, stratified: true };
    let wanted = fiedler_evaluate::EvaluationSettings { protocol: Some(protocol.into()), ..Default::default() };
    let score = fiedler_evaluate::evaluate(&found, &target, &wanted, &NoObserver).unwrap();
    assert!(score.mean >= 0.825, "{}", score.mean);
}

#[test]
fn eigenvectors_tell_how_far_they_are_and_can_be_stopped() {
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let graph = random_graph(2_000, 12_000, 3);
    let settings = EigenvectorSettings { eigenvectors: 16, ..EigenvectorSettings::default() };
    let heard = AtomicUsize::new(0);
    let observer = |event: &fiedler_graph::Event<'_>| {
        if let fiedler_graph::Event::Progress { stage, done, total, .. } = event {
            assert!(*stage == "eigenvectors" && Some(*done) <= *total);
            heard.fetch_add(1, Ordering::SeqCst);
        }
        ControlFlow::Continue(())
    };
    let watched = eigenvectors_watched(&graph, &settings, &observer).unwrap();
    assert_eq!(watched, eigenvectors(&graph, &settings).unwrap());
    let all = heard.load(Ordering::SeqCst);
    assert!(all > 100, "{all}");
    for after in [0, all / 2] {
        let left = AtomicUsize::new(after);
        let stopping = |event: &fiedler_graph::Event<'_>| match event {
            fiedler_graph::Event::Progress { .. } if left.load(Ordering::SeqCst) == 0 => ControlFlow::Break(()),
            fiedler_graph::Event::Progress { .. } => {
                left.fetch_sub(1, Ordering::SeqCst);
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Continue(()),
        };
        assert!(matches!(eigenvectors_watched(&graph, &settings, &stopping), Err(Error::Stopped { .. })));
    }
}
