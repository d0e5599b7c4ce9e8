import type { objectSearch } from '../../../shared/contract/object-search.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { LabelKind } from '../../../shared/labels/label-kinds.ts'
import type { BoundRequirement } from '../../../shared/selectors/bind-selector.ts'
import type { QueryScope } from '../../../shared/selectors/definition.ts'
import type { SelectorError } from '../../../shared/selectors/syntax.ts'
import { resolveSelector, type SelectorUse } from '../../labels/resolve-selector.ts'
import { countSelected, readSelected } from '../../labels/selector-query.ts'
import type { Db } from '../../ports/datastore.ts'
import { pageRange } from '../../ports/page-range.ts'
import { createNameReader } from './name-store.ts'
import { shownKind, toObject } from './found-object.ts'

type Preview = Result<(typeof objectSearch)['operations']['PreviewLabelSelector']>

/** Matching objects that are counted, at most: more cost time and say nothing new. */
const COUNTED_MAX = 10_000

/** Matching objects that are shown. */
const SAMPLE = 20

interface Previewed extends Required<Pick<SelectorUse, 'knows'>> {
  readonly selector: string
  readonly scope: QueryScope
  readonly kind: LabelKind | undefined
}

/**
 * Reads a selector, and counts and shows what it matches; errors are an answer. Rows are not filtered: the gate asked for `read`
 * on the scope, and the schema grants `read` on each object in it to holders of that one.
 */
export async function previewSelector(db: Db, { selector, scope, kind, knows }: Previewed): Promise<Preview> {
  const { bound, canonical, errors } = await resolveSelector(db, selector, { ...scope, knows })
  if (bound === undefined) return { canonical: null, requirements: [], errors: errors.map(toFault), ...NOTHING }
  const selected = { bound, scope, kind }
  const { counts, isComplete } = await countSelected(db, selected, COUNTED_MAX)
  const found = await readSelected(db, selected, pageRange(undefined, SAMPLE))
  const nameOf = createNameReader(db)
  return {
    canonical,
    requirements: bound.requirements.map(toAnswer),
    errors: [],
    counts: Object.fromEntries(Object.entries(counts).map(([of, count]) => [shownKind({ kind: of }, kind), count])),
    complete: isComplete,
    sample: await Promise.all(
      found.slice(0, SAMPLE).map(async (row) => toObject(row, shownKind(row, kind), await nameOf(row))),
    ),
  }
}

const NOTHING: Pick<Preview, 'counts' | 'complete' | 'sample'> = { counts: {}, complete: true, sample: [] }

function toFault({ expected, ...error }: SelectorError): Preview['errors'][number] {
  return { ...error, expected: [...expected] }
}

function toAnswer(requirement: BoundRequirement): Preview['requirements'][number] {
  const { op, definition } = requirement
  return { key: definition.qualifiedKey, op, values: valuesOf(requirement), definition_id: definition.id }
}

function valuesOf(requirement: BoundRequirement) {
  if ('values' in requirement) return [...requirement.values]
  return 'value' in requirement ? [requirement.value] : []
}
