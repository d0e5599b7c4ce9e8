import { faultsIn } from './selector-errors.ts'
import { memberOf } from '../output/members.ts'
import type { Hints } from './hints.ts'

/** What to do next about refusals of labels and selectors, by code. */
export const LABEL_HINTS: Readonly<Record<string, Hints>> = {
  aggregate_invariant: ({ problem: { document } }) =>
    typeof document['reason'] === 'string' ? [`  ${document['reason']}`] : [],
  assignments_exist: ({ problem: { document }, words }) => [
    ...(typeof document['assignments'] === 'number' ? [`  objects: ${document['assignments']}`] : []),
    ...(words === 'labels undefine'
      ? [
          'Delete the labels with it, or keep them without it: ctl labels redefine KEY --on-delete cascade|orphan. Labels that are not immutable can also be removed first.',
        ]
      : []),
  ],
  cardinality_exceeded: () => ['See them: ctl labels list OBJECT'],
  definition_conflict: () => ['See what it says: ctl labels definition KEY; change it: ctl labels redefine KEY'],
  definition_in_use: ({ problem: { document } }) =>
    Array.isArray(document['holders'])
      ? [
          ...document['holders'].map((holder) => `  ${String(holder)}`),
          'See policies with their ids: ctl policies list -o wide',
        ]
      : [],
  definition_not_found: () => ['See which there are: ctl labels definitions'],
  object_not_found: () => [],
  invalid_label_filter: () => ["Check the selector: ctl labels preview 'SELECTOR'"],
  invalid_selector: ({ problem: { document } }) => faultLines(document['errors']),
}

/** Errors of the only selector of a request. Those of one of several are said with its member. */
function faultLines(errors: unknown): readonly string[] {
  const own = Array.isArray(errors) ? errors.filter((error) => typeof memberOf(error, 'pointer') !== 'string') : []
  return faultsIn(own).map(({ offset, message }) => `  at byte ${offset}: ${message}`)
}
