/** Verbs of other command lines, each with the verbs that do the same here, the likeliest first. */
const MEANT: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  [
    { typed: ['ls', 'index'], meant: ['list'] },
    { typed: ['get', 'view', 'describe', 'info', 'inspect', 'cat', 'read'], meant: ['show', 'list', 'view'] },
    { typed: ['show', 'list'], meant: ['list', 'show', 'view'] },
    {
      typed: ['rm', 'del', 'delete', 'remove', 'destroy', 'unset', 'drop'],
      meant: ['delete', 'remove', 'deregister', 'revoke', 'cancel', 'remove-member'],
    },
    { typed: ['new', 'add', 'create', 'make', 'mk', 'insert'], meant: ['create', 'add', 'issue', 'add-member', 'set'] },
    {
      typed: ['edit', 'set', 'modify', 'change', 'patch', 'update', 'put', 'mv', 'rename'],
      meant: ['update', 'set', 'use', 'rename'],
    },
    { typed: ['acknowledge', 'confirm'], meant: ['ack'] },
  ].flatMap(({ typed, meant }) => typed.map((verb) => [verb, meant] as const)),
)

/** The verb of a noun that means the same as a verb of another command line, for one object or for all; undefined if there is none. */
export function verbMeant(typed: string, verbs: Iterable<string>, isOfOne: boolean): string | undefined {
  const known = new Set(verbs)
  const meant = Object.hasOwn(MEANT, typed) ? MEANT[typed] : undefined
  const verb = meant?.find((one) => known.has(one))
  return verb === 'show' && !isOfOne && known.has('list') ? 'list' : verb
}
