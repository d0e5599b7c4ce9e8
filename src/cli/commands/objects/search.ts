import { pages, type Page } from '../../../client/pages.ts'
import type { ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { LABEL_KINDS } from '../../../shared/labels/label-kinds.ts'
import { usageError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { asSelectorError, selectorError, syntaxFaults } from '../../errors/selector-errors.ts'
import { defineCommand } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { noteList, PAGE_MAX, wantedRows } from '../../derive/lists.ts'
import type { View } from '../../output/emit.ts'
import { isRow } from '../../output/members.ts'
import { isText } from '../../output/screen.ts'
import { printedCurl } from '../authz/question.ts'
import { createResolver } from '../../session/references.ts'
import { withScopeIds } from '../../argv/selector-scopes.ts'
import type { Session } from '../../session/session.ts'
import { QUERY_SCOPE, queryScope } from '../labels/query-scope.ts'

const FLAGS = {
  kind: { kind: 'text', value: 'KIND', choices: LABEL_KINDS, describe: 'Objects of this kind only' },
  relation: {
    kind: 'text',
    value: 'RELATION',
    describe: 'Only objects on which you hold this relation, e.g. node-operate',
    fallback: 'read',
  },
  ...QUERY_SCOPE,
} as const satisfies FlagSpecs

const VIEW: View = {
  columns: ['kind', 'display_name', 'labels', 'id'],
  wide: ['domain_id', 'project_id'],
  members: ['kind', 'display_name', 'labels', 'id', 'domain_id', 'project_id'],
}

/** Finds objects by their labels. */
export const search = defineCommand({
  description:
    'Shows the values of the labels that the selector names. Objects are in the order of kind and id; those on which you do not hold the relation are left out.',
  args: [{ name: 'selector', describe: 'Selector of objects', noun: 'selectors', required: true }],
  flags: FLAGS,
  uses: ['connection', 'curl', 'output', 'list'],
  examples: [
    "ctl objects search 'env=prod' --kind node --relation node-operate",
    "ctl objects search 'env=prod,!tier' --scope project:web --all -o name",
  ],
  async run(session, { args: [typed], flags }) {
    if (typed === undefined) throw usageError('<selector> is missing', 'See: ctl objects search --help')
    const text = await withScopeIds(createResolver(session), typed)
    const faults = await syntaxFaults(text)
    if (faults.length > 0) throw selectorError(text, faults, EXIT.usage)
    const { kind, relation } = flags
    const scope = await queryScope(session, flags.scope)
    const body = { selector: text, ...scope, ...(kind && { kind }), ...(relation && { relation }) }
    const operation = session.operation('SearchObjectsByLabel')
    const limit = Math.min(PAGE_MAX, wantedRows(session))
    if (await printedCurl(session, operation, { body: { ...body, limit } })) return
    const page = await readPages(session, operation, body).catch((error: unknown) => {
      throw asSelectorError(error, text)
    })
    await session.emit((await isText(session)) ? withBareKeys(page) : page, VIEW)
    noteList(session, page)
  },
})

/** Reads as many objects as asked for. The cursor goes in the body. */
async function readPages(session: Session, operation: ManifestOperation, body: object): Promise<Page<unknown>> {
  const wanted = wantedRows(session)
  const caller = await session.caller()
  session.expectOutput()
  const items: unknown[] = []
  const page = async (query: object): Promise<Page<unknown>> => {
    const limit = Math.min(PAGE_MAX, wanted - items.length)
    return (await caller.call(operation, { body: { ...query, limit } })).value as Page<unknown>
  }
  let next: string | null = null
  for await (const { items: more, next_cursor } of pages(page, body)) {
    items.push(...more)
    next = next_cursor ?? null
    if (items.length >= wanted) break
  }
  return { items, next_cursor: next }
}

/** A table says `env=prod`; the ids of scopes would hide it. */
function withBareKeys({ items, next_cursor }: Page<unknown>): Page<unknown> {
  return { items: items.map((row) => (isRow(row) ? { ...row, labels: bare(row['labels']) } : row)), next_cursor }
}

function bare(labels: unknown): unknown {
  if (!isRow(labels)) return labels
  const keys = Object.keys(labels).map((key) => [key, key.slice(key.indexOf('/') + 1)] as const)
  const isClear = new Set(keys.map(([, local]) => local)).size === keys.length
  return isClear ? Object.fromEntries(keys.map(([key, local]) => [local, labels[key]])) : labels
}
