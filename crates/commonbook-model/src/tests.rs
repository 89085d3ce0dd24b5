//! The bundled model against the published one: its tokenizer's numbers, and vectors computed with its 32-bit weights.

use super::*;

/// The vector of a text.
fn vector(encoder: &Encoder, text: &str) -> Vec<f32> {
    encoder.encode(text).vector
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn tokens_are_those_of_the_published_tokenizer() {
    let long = "a".repeat(101) + " ok";
    let cases: [(&str, &[u32]); 15] = [
        ("Crème Brûlée, naïve façade", &[13675, 21382, 7987, 9307, 2063, 1010, 15743, 8508]),
        ("東京は日本の首都", &[1879, 1755, 1672, 1864, 1876, 1671, 100, 1961]),
        (
            "한국어 กำลัง हिन्दी",
            &[
                1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008, 100, 1339, 29877, 29863,
                29861, 29878,
            ],
        ),
        ("I ❤\u{fe0f} pizza 🙂👍🏽", &[1045, 100, 10733, 100]),
        (
            "InvoiceBuilder::add_line(getHTTPCode)",
            &[
                1999, 6767, 6610, 8569, 23891, 2099, 1024, 1024, 5587, 1035, 2240, 1006, 2131,
                11039, 25856, 16044, 1007,
            ],
        ),
        (&long, &[100, 7929]),
        ("supercalifragilistic", &[3565, 9289, 10128, 29181, 24411, 4588]),
        (
            "tab\tbell\u{7}null\0zero\u{200b}width soft\u{ad}hyphen",
            &[21628, 4330, 11231, 3363, 6290, 5004, 3593, 2705, 3730, 10536, 8458, 2368],
        ),
        ("x\u{b}y\u{85}z\u{2028}v\u{3000}u\r\nw", &[1060, 2100, 2480, 1058, 1057, 1059]),
        (
            "İstanbul ﬁne Ǆ ẞ Σίσυφος",
            &[9960, 1984, 2638, 100, 1096, 1173, 18199, 29733, 29735, 29736, 15297],
        ),
        ("e\u{301}a n\u{303}o", &[19413, 2053]),
        (
            "$5.00 + 3^2 = `code` ~/path",
            &[
                1002, 1019, 1012, 4002, 1009, 1017, 1034, 1016, 1027, 1036, 3642, 1036, 1066, 1013,
                4130,
            ],
        ),
        (
            "¿qué? «oui» — … ‘q’",
            &[1094, 10861, 1029, 1077, 15068, 2072, 1090, 1517, 1529, 1520, 1053, 1521],
        ),
        ("\u{f900} 𠀀x", &[100, 100, 1060]),
        // The mark of an end is text like any other.
        ("[SEP]", &[1031, 19802, 1033]),
    ];
    let encoder = Encoder::bundled();
    for (text, tokens) in cases {
        let found: Vec<u32> =
            encoder.tokenizer.pieces(text, 254).iter().map(|piece| piece.token).collect();
        assert_eq!(found, tokens, "{text}");
    }
}

#[test]
fn pieces_know_their_bytes() {
    let text = "Crème Brûlée 東京 unaffable";
    let encoding = Encoder::bundled().encode(text);
    let parts: Vec<&str> = encoding.pieces.iter().map(|piece| &text[piece.bytes.clone()]).collect();
    assert_eq!(parts, ["Cr", "ème", "Br", "ûlé", "e", "東", "京", "una", "ffa", "ble"]);
    // A word that is too long to be taken apart is one piece, to its end.
    let text = format!("a {}é b", "x".repeat(5000));
    let encoding = Encoder::bundled().encode(&text);
    let bytes: Vec<Range<usize>> = encoding.pieces.into_iter().map(|piece| piece.bytes).collect();
    assert_eq!(bytes, [0..1, 2..5004, 5005..5006]);
}

#[test]
fn vectors_are_those_of_the_published_weights() {
    // The first numbers of each vector.
    let cases = [
        (
            "How do I send a document?",
            [-0.011, 0.0577, -0.0119, 0.0162, 0.0328, -0.0262, -0.0709, 0.0817],
        ),
        (
            "Transferring files to somebody",
            [-0.0546, 0.0099, -0.0357, -0.0238, 0.0178, 0.0008, 0.084, 0.0419],
        ),
        (
            "Bananas ripen next to apples",
            [-0.0205, -0.0315, -0.0159, -0.0066, 0.0284, 0.0128, 0.0089, 0.001],
        ),
        (
            &"word ".repeat(300),
            [-0.0081, -0.0956, -0.0387, 0.0497, -0.0438, 0.0237, -0.0181, -0.0202],
        ),
    ];
    let encoder = Encoder::bundled();
    let mut vectors = Vec::new();
    for (text, numbers) in cases {
        let vector = vector(&encoder, text);
        assert_eq!(vector.len(), encoder.dimension());
        for (found, number) in vector.iter().zip(numbers) {
            assert!((found - number).abs() < 0.007, "{text}: {found} for {number}");
        }
        vectors.push(vector);
    }
    for (a, b, number) in
        [(0, 0, 1.0), (0, 1, 0.4601), (0, 2, -0.0379), (1, 2, 0.0964), (2, 3, 0.0179)]
    {
        let found = cosine(&vectors[a], &vectors[b]);
        assert!((found - number).abs() < 0.01, "{a} {b}: {found} for {number}");
    }
    let encoding = encoder.encode("How do I send a document?");
    let state = [0.2585, -0.1823, 0.2606, -0.0604, 0.5549, -0.5846];
    for (found, number) in encoding.state(3).iter().zip(state) {
        assert!((found - number).abs() < 0.06, "{found} for {number}");
    }
}

#[test]
fn a_vector_is_the_mean_of_states() {
    let encoding = Encoder::bundled().encode("two words");
    let dimension = encoding.vector.len();
    assert_eq!(encoding.states.len(), 4 * dimension);
    assert_eq!(encoding.state(1), &encoding.states[2 * dimension..3 * dimension]);
    assert_eq!(float::unit_mean(&encoding.states, dimension), encoding.vector);
    assert!(std::panic::catch_unwind(|| encoding.state(2).len()).is_err());
}

#[test]
fn a_long_text_is_cut_and_a_blank_one_is_not_an_error() {
    let encoder = Encoder::bundled();
    let words = |count: usize| "word ".repeat(count);
    assert_eq!(vector(&encoder, &words(254)), vector(&encoder, &words(5000)));
    assert_ne!(vector(&encoder, &words(253)), vector(&encoder, &words(254)));
    for blank in ["", " \n", "\u{200b}"] {
        let encoding = encoder.encode(blank);
        assert!(encoding.pieces.is_empty());
        assert!((cosine(&encoding.vector, &encoding.vector) - 1.0).abs() < 1e-5);
    }
}

/// Every bit, so that another machine, another compiler or another loop shows.
#[test]
fn vectors_never_change() {
    let encoder = Encoder::bundled();
    let mut sum = 0_u32;
    for text in ["a", "The retry queue drops jobs when Redis restarts.", &"é🙂 word ".repeat(40)]
    {
        for number in encoder.encode(text).vector {
            sum = sum.rotate_left(5) ^ number.to_bits();
        }
    }
    assert_eq!(sum, 1_286_364_422);
}
