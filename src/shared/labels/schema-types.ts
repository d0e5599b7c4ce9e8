/** Types of the values of labels. */
export const LABEL_TYPES = ['string', 'integer', 'boolean'] as const
export type LabelType = (typeof LABEL_TYPES)[number]

/** The value of a label: text of up to 256 characters, a safe integer, or a boolean. */
export type LabelValue = string | number | boolean

/** Which values a label takes. Members beside `type` narrow it, and must fit it. */
export interface ValueSchema {
  readonly type: LabelType
  readonly enum?: readonly LabelValue[] | undefined
  readonly const?: LabelValue | undefined
  /** RE2 syntax; matches anywhere in the text. */
  readonly pattern?: string | undefined
  /** In characters (code points). */
  readonly minLength?: number | undefined
  readonly maxLength?: number | undefined
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
}
