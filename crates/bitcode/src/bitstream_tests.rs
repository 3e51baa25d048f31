//! Tests of the bitstream layer on hand-made streams.

use super::*;
use crate::testing::BitWriter;

fn header(data: &[u8], id: u32) -> BlockHeader {
    let mut cursor = Cursor::new(data, 0, u64::MAX);
    assert_eq!(cursor.fixed(2), ENTER_SUBBLOCK);
    let header = read_header(&mut cursor).expect("a header");
    assert_eq!(header.id, id);
    header
}

fn all_records(data: &[u8]) -> Res<Vec<(u32, Vec<u64>)>> {
    let info = BlockInfo::default();
    let mut block = Block::new(data, header(data, 9), &info);
    let mut record = Record::default();
    let mut records = Vec::new();
    loop {
        match block.next(&mut record)? {
            Item::End => return Ok(records),
            Item::Record => records.push((record.code, record.ops.clone())),
            Item::Block(_) => {}
        }
    }
}

#[test]
fn fields_cross_byte_borders() {
    let mut writer = BitWriter::default();
    writer
        .fixed(5, 3)
        .fixed(0x1ABCD, 17)
        .fixed(0xFFFF_FFFF, 32)
        .fixed(1, 1);
    let data = writer.finish();
    let mut cursor = Cursor::new(&data, 0, u64::MAX);
    assert_eq!(cursor.fixed(3), 5);
    assert_eq!(cursor.fixed(17), 0x1ABCD);
    assert_eq!(cursor.fixed(32), 0xFFFF_FFFF);
    assert_eq!(cursor.fixed(1), 1);
    assert!(!cursor.overrun());
}

#[test]
fn variable_width_numbers_of_all_sizes() {
    for width in [2, 4, 6, 8, 32] {
        for value in [
            0,
            1,
            31,
            32,
            33,
            1 << 20,
            u64::from(u32::MAX),
            u64::MAX - 1,
            u64::MAX,
        ] {
            let mut writer = BitWriter::default();
            writer.fixed(0, 5).vbr(value, width).fixed(3, 2);
            let data = writer.finish();
            let mut cursor = Cursor::new(&data, 5, u64::MAX);
            assert_eq!(cursor.vbr(width), value, "width {width}");
            assert_eq!(cursor.fixed(2), 3, "width {width}");
        }
    }
}

#[test]
fn endless_number_is_an_overrun() {
    let data = [0xFF; 64];
    let mut cursor = Cursor::new(&data, 0, u64::MAX);
    cursor.vbr(6);
    assert!(cursor.overrun());
}

#[test]
fn reading_past_the_end_gives_zeros() {
    let data = [0xFF; 2];
    let mut cursor = Cursor::new(&data, 12, u64::MAX);
    assert_eq!(cursor.fixed(8), 0x0F);
    assert!(cursor.overrun());
    assert_eq!(cursor.fixed(32), 0);
}

#[test]
fn records_and_nested_blocks() {
    let data = BitWriter::default()
        .block(9, 3, |w| {
            w.record(1, &[7, 100, u64::MAX]);
            w.block(10, 4, |w| {
                w.record(5, &[1]);
            });
            w.record(2, &[]);
        })
        .finish();
    let records = all_records(&data).expect("valid");
    assert_eq!(records, [(1, vec![7, 100, u64::MAX]), (2, vec![])]);
}

#[test]
fn abbreviations_with_array_and_literal() {
    let data = BitWriter::default()
        .block(9, 4, |w| {
            // DEFINE_ABBREV [literal 12, vbr6, fixed 0, array of char6]
            w.abbrev_id(2).vbr(5, 5);
            w.fixed(1, 1).vbr(12, 8);
            w.fixed(0, 1).fixed(2, 3).vbr(6, 5);
            w.fixed(0, 1).fixed(1, 3).vbr(0, 5);
            w.fixed(0, 1).fixed(3, 3);
            w.fixed(0, 1).fixed(4, 3);
            w.abbrev_id(4).vbr(77, 6).vbr(3, 6);
            // "aZ_"
            w.fixed(0, 6).fixed(51, 6).fixed(63, 6);
        })
        .finish();
    let records = all_records(&data).expect("valid");
    let text = [97, 90, 95];
    assert_eq!(records, [(12, vec![77, 0, text[0], text[1], text[2]])]);
}

#[test]
fn blobs_are_aligned() {
    let data = BitWriter::default()
        .block(9, 4, |w| {
            // DEFINE_ABBREV [literal 35, vbr6, blob]
            w.abbrev_id(2).vbr(3, 5);
            w.fixed(1, 1).vbr(35, 8);
            w.fixed(0, 1).fixed(2, 3).vbr(6, 5);
            w.fixed(0, 1).fixed(5, 3);
            w.abbrev_id(4).vbr(1, 6).vbr(5, 6).align32();
            b"hello".iter().for_each(|c| {
                w.fixed(u64::from(*c), 8);
            });
            w.align32();
            w.record(3, &[9]);
        })
        .finish();
    let info = BlockInfo::default();
    let mut block = Block::new(&data, header(&data, 9), &info);
    let mut record = Record::default();
    assert!(matches!(block.next(&mut record), Ok(Item::Record)));
    let (start, end) = record.blob.expect("a blob");
    assert_eq!(&data[start..end], b"hello");
    assert!(matches!(block.next(&mut record), Ok(Item::Record)));
    assert_eq!((record.code, record.get(0)), (3, 9));
}

#[test]
fn blockinfo_gives_abbreviations_to_other_blocks() {
    let mut writer = BitWriter::default();
    writer.block(0, 2, |w| {
        w.record(1, &[9]);
        // DEFINE_ABBREV [literal 8, fixed 3]
        w.abbrev_id(2).vbr(2, 5);
        w.fixed(1, 1).vbr(8, 8);
        w.fixed(0, 1).fixed(1, 3).vbr(3, 5);
    });
    let split = writer.finish();
    let mut info = BlockInfo::default();
    info.read(&split, header(&split, 0)).expect("valid");
    let data = BitWriter::default()
        .block(9, 3, |w| {
            w.abbrev_id(4).fixed(6, 3);
        })
        .finish();
    let mut block = Block::new(&data, header(&data, 9), &info);
    let mut record = Record::default();
    assert!(matches!(block.next(&mut record), Ok(Item::Record)));
    assert_eq!((record.code, &record.ops[..]), (8, &[6][..]));
}

fn error_of(data: &[u8]) -> ErrorKind {
    all_records(data).expect_err("malformed").what
}

#[test]
fn counts_are_not_trusted() {
    // A record that claims more operands than there are bits.
    let data = BitWriter::default()
        .block(9, 3, |w| {
            w.abbrev_id(3).vbr(1, 6).vbr(u64::MAX >> 1, 6);
        })
        .finish();
    assert_eq!(error_of(&data), ErrorKind::UnexpectedEnd);
    // An array of elements that take no bits.
    let data = BitWriter::default()
        .block(9, 4, |w| {
            w.abbrev_id(2).vbr(3, 5);
            w.fixed(1, 1).vbr(1, 8);
            w.fixed(0, 1).fixed(3, 3);
            w.fixed(0, 1).fixed(1, 3).vbr(0, 5);
        })
        .finish();
    assert_eq!(error_of(&data), ErrorKind::Bitstream("array element"));
}

#[test]
fn unknown_abbreviation_and_missing_end() {
    let data = BitWriter::default()
        .block(9, 3, |w| {
            w.abbrev_id(5);
        })
        .finish();
    assert_eq!(error_of(&data), ErrorKind::Bitstream("abbreviation number"));
    let data = BitWriter::default()
        .block(9, 3, |w| {
            w.record(1, &[1, 2, 3]);
            // Without the end, the block's own padding reads as one: so leave no padding.
            w.align32();
        })
        .finish();
    let cut = &data[..data.len() - 4];
    let mut cursor = Cursor::new(cut, 2, u64::MAX);
    let error = read_header(&mut cursor).expect_err("longer than the data");
    assert_eq!(error.what, ErrorKind::UnexpectedEnd);
}

#[test]
fn names_that_are_not_utf8_stay_different() {
    assert_eq!(&*text(b"plain"), "plain");
    assert_eq!(&*text(b"a\xFFb"), "a\\xffb");
    assert_ne!(text(b"a\xFE"), text(b"a\xFF"));
}
