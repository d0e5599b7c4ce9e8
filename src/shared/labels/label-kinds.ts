/** Kinds of objects that can have labels (S1 Label registry). */
export const LABEL_KINDS = [
  'domain',
  'project',
  'resource',
  'network',
  'workload',
  'node',
  'user',
  'serviceaccount',
  'group',
  'cloud',
  'cloudcredential',
  'provider_bundle',
] as const

export type LabelKind = (typeof LABEL_KINDS)[number]

/** Kinds under which objects are stored: a network or workload is a resource, and has its labels. */
export type StoredLabelKind = Exclude<LabelKind, 'network' | 'workload'>

/** The kind under which labels of an object are stored. */
export function storedKind(kind: LabelKind): StoredLabelKind {
  return kind === 'network' || kind === 'workload' ? 'resource' : kind
}

/** Labels that one object has at most, orphaned ones included (S1 Limits). */
export const ASSIGNMENTS_MAX = 64
