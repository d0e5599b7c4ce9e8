import type { TupleRequest } from './tuple-request.ts'

/** The forms that tuples are written in. */
export const TUPLE_FORMS = ['jsonl', 'yaml', 'relationships'] as const
export type TupleForm = (typeof TUPLE_FORMS)[number]

/** Writes tuples so that an import reads them again; a form may be written piece by piece. */
export async function writerOf(form: TupleForm): Promise<(tuples: readonly TupleRequest[]) => string> {
  if (form === 'yaml') {
    const { stringify } = await import('yaml')
    return (tuples) => (tuples.length === 0 ? '' : stringify(tuples.map(bare), { lineWidth: 0 }))
  }
  if (form === 'jsonl') return (tuples) => tuples.map((tuple) => `${JSON.stringify(bare(tuple))}\n`).join('')
  const { relationshipText } = await import('./relationship-text.ts')
  return (tuples) => tuples.map((tuple) => `${relationshipText(tuple)}\n`).join('')
}

/** A tuple without what the server adds to it. */
function bare({ subject, relation, resource, caveat_context }: TupleRequest): TupleRequest {
  return { subject, relation, resource, ...(caveat_context !== undefined && { caveat_context }) }
}
