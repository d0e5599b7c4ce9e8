import type { ExportFault } from '../../../shared/audit/export-lines.ts'

/** What is wrong, in a sentence that goes on from "row 7". */
export const FAULT_SENTENCES: Readonly<Record<ExportFault, string>> = {
  row_missing: 'is not there',
  out_of_order: 'comes after a row with a higher number, or twice',
  foreign_row: 'belongs to another chain',
  row_altered: 'is not what was sealed: one of its members, its number or the row before it was changed',
  head_mismatch: 'fits the rows before it, but they are not those that the server signed',
  rows_cut_off: 'is where the chain ends too early: what followed was taken away',
  unknown_key: 'is the newest that was signed, and none of the keys is the one that signed it',
  key_not_valid: 'was signed outside of the time of the key',
  bad_signature: 'has a signature that does not hold',
  not_signed: 'is under no signed head',
  malformed: 'should come here, and this line is none that an export has',
}
