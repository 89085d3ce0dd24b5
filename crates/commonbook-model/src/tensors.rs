//! The tensors of a file of safetensors, as 32-bit numbers.

use serde_json::Value;

/// Bytes of the number that says how long the header is.
const LENGTH_BYTES: usize = 8;

/// A file: a header in JSON with the place of each tensor, and the numbers.
pub(crate) struct TensorFile<'a> {
    header: Value,
    numbers: &'a [u8],
}

impl<'a> TensorFile<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// The reason why it is none.
    pub(crate) fn read(file: &'a [u8]) -> Result<Self, String> {
        let short = || format!("it ends after {} bytes, within its header", file.len());
        let (length, rest) = file.split_first_chunk::<LENGTH_BYTES>().ok_or_else(short)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok();
        let (header, numbers) =
            length.and_then(|length| rest.split_at_checked(length)).ok_or_else(short)?;
        let header = serde_json::from_slice(header).map_err(|cause| format!("header: {cause}"))?;
        Ok(Self { header, numbers })
    }

    /// Whether there is a tensor of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.header.get(name).is_some()
    }

    /// The numbers of a tensor, row by row.
    ///
    /// # Errors
    /// If there is no tensor of this name and shape, or it goes beyond the file.
    pub(crate) fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
        let entry = &self.header[name];
        let found: Option<Vec<usize>> = entry["shape"].as_array().and_then(|sides| {
            sides.iter().map(|side| usize::try_from(side.as_u64()?).ok()).collect()
        });
        let found = found.ok_or_else(|| format!("there is no tensor {name}"))?;
        if found != shape {
            return Err(format!("{name} has the shape {found:?} and not {shape:?}"));
        }
        let offset = |index: usize| usize::try_from(entry["data_offsets"][index].as_u64()?).ok();
        let bytes = offset(0).zip(offset(1)).and_then(|(start, end)| self.numbers.get(start..end));
        let bytes = bytes.ok_or_else(|| format!("{name} goes beyond the end of the file"))?;
        let count = shape.iter().fold(1_usize, |count, side| count.saturating_mul(*side));
        let numbers: Vec<f32> = match entry["dtype"].as_str().unwrap_or_default() {
            "F32" => bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            "F16" => bytes.as_chunks().0.iter().map(|bytes| of_half(*bytes)).collect(),
            "BF16" => bytes.as_chunks().0.iter().map(|bytes| of_brain(*bytes)).collect(),
            other => return Err(format!("{name} is of {other}; F32, F16 and BF16 run")),
        };
        match (numbers.len() == count, numbers.iter().all(|number| number.is_finite())) {
            (true, true) => Ok(numbers),
            (true, false) => Err(format!("{name} has a number that is not finite")),
            (false, _) => Err(format!("{name} has {} numbers and not {count}", numbers.len())),
        }
    }
}

/// The upper half of a 32-bit number.
fn of_brain(bytes: [u8; 2]) -> f32 {
    f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)
}

/// A number of 16 bits: a sign, five bits of exponent and ten of fraction.
fn of_half(bytes: [u8; 2]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes));
    let (sign, exponent, fraction) = (bits >> 15 << 31, bits >> 10 & 0x1f, bits & 0x3ff);
    let size = match exponent {
        0 => fraction as f32 / (1 << 24) as f32,
        0x1f => f32::from_bits(0x7f80_0000 | fraction << 13),
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    f32::from_bits(size.to_bits() | sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_sixteen_bits() {
        for (bits, number) in [
            (0x0000_u16, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x8400, -6.103_515_6e-5),
        ] {
            assert_eq!(of_half(bits.to_le_bytes()), number, "{bits:x}");
        }
        assert!(of_half(0x7c00_u16.to_le_bytes()).is_infinite());
        assert!(of_half(0x7e00_u16.to_le_bytes()).is_nan());
        assert_eq!(of_brain(0xbf80_u16.to_le_bytes()), -1.0);
    }

    #[test]
    fn a_file_is_not_believed() {
        let file = |header: &str, numbers: &[u8]| {
            let mut file = (header.len() as u64).to_le_bytes().to_vec();
            file.extend(header.as_bytes());
            file.extend(numbers);
            file
        };
        let entry = |dtype: &str, shape: &str, end: &str| {
            format!(r#"{{"a":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,{end}]}}}}"#)
        };
        let one = 1.0_f32.to_le_bytes();
        let read = |header: String, numbers: &[u8]| {
            TensorFile::read(&file(&header, numbers))?.tensor("a", &[1])
        };
        assert_eq!(read(entry("F32", "[1]", "4"), &one), Ok(vec![1.0]));
        for (header, words) in [
            ("{}".to_owned(), "there is no tensor a"),
            (entry("F32", "[2]", "4"), "the shape [2] and not [1]"),
            (entry("F32", "[1]", "8"), "beyond the end"),
            (entry("F32", "[1]", "-1"), "beyond the end"),
            (entry("F32", "[1]", "3"), "0 numbers and not 1"),
            (entry("I64", "[1]", "4"), "is of I64"),
            ("{".to_owned(), "header"),
        ] {
            let error = read(header, &one).unwrap_err();
            assert!(error.contains(words), "{error} / {words}");
        }
        let endless = entry("F32", "[1]", "4");
        assert!(read(endless, &f32::NAN.to_le_bytes()).unwrap_err().contains("not finite"));
        let mut long = file("{}", &[]);
        long[0] = 200;
        for broken in [&long[..], &[1, 2, 3], &[255; 9]] {
            assert!(TensorFile::read(broken).is_err());
        }
    }
}
