import { isRow, type Row } from '../../output/members.ts'
import type { LiveObject } from '../document.ts'
import type { Kind, Member, World, Writing } from '../kind.ts'
import { SLUG } from '../naming.ts'
import { picked, replaced, required, text, valuesOf } from './member-sets.ts'

const MEMBERS = ['display_name', 'selector', 'isolates', 'rules', 'tests']
const RULE = ['direction', 'peers', 'except_peers', 'cidrs', 'except_cidrs', 'protocol', 'ports']
const TEST = ['from', 'to', 'protocol', 'port', 'expect']
const SELECTORS = ['peers', 'except_peers', 'from', 'to']

/** Policies. The lists of a policy are complete in its file. */
export const policy: Kind = {
  name: 'policy',
  nouns: ['policies'],
  summary: 'Which nodes reach each other',
  naming: SLUG,
  members: (manifest) =>
    valuesOf(manifest, 'CreatePolicy', MEMBERS).map((member): Member =>
      ['selector', 'rules'].includes(member.name) ? required(member) : member,
    ),
  async read(world) {
    const rows = await world.api.all('ListPolicies', { id: world.names.domainId })
    return rows.map((row) => liveOf(world, row))
  },
  normal: (world, { members }) => mapped(members, (selector) => world.names.normalSelector(selector)),
  async create({ api, names }, { document }) {
    // An empty list is no change, and the API wants the member.
    const body = await mapped({ slug: document.name, rules: [], ...document.members }, (selector) =>
      names.sentSelector(selector),
    )
    return text(await api.call('CreatePolicy', { id: names.domainId, body }), 'id')
  },
  async change({ api, names }, { live, changes }) {
    const body = await mapped(replaced(changes, MEMBERS), (selector) => names.sentSelector(selector))
    await api.call('PatchPolicy', { id: live.id, body }, ifMatch(live))
  },
  async remove({ api }, live) {
    await api.call('DeletePolicy', { id: live.id }, ifMatch(live))
  },
  heldUnder: () => 'policies.write',
}

function ifMatch({ row }: LiveObject): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { 'if-match': `"${text(row, 'revision_id')}"` } }
}

function liveOf({ names }: World, row: Row): LiveObject {
  const shown = (member: Row, order: readonly string[]): Row =>
    picked(
      Object.fromEntries(
        Object.entries(member).map(([name, value]) => [
          name,
          SELECTORS.includes(name) ? names.shownSelector(String(value)) : value,
        ]),
      ),
      order,
    )
  const list = (name: string, order: readonly string[]): readonly Row[] =>
    Array.isArray(row[name]) ? row[name].filter(isRow).map((one) => shown(one, order)) : []
  const tests = list('tests', TEST)
  const members = {
    display_name: row['display_name'],
    selector: names.shownSelector(text(row, 'selector')),
    isolates: row['isolates'],
    rules: list('rules', RULE),
    ...(tests.length > 0 && { tests }),
  }
  return { kind: 'policy', name: text(row, 'slug'), id: text(row, 'id'), members, row }
}

/** Members of a policy with other texts for its selectors. */
async function mapped(
  members: Writing['document']['members'],
  map: (selector: string) => Promise<string>,
): Promise<Row> {
  const entry = async (value: unknown): Promise<unknown> => {
    if (!isRow(value)) return value
    const pairs = await Promise.all(
      Object.entries(value).map(
        async ([name, one]) => [name, SELECTORS.includes(name) ? await map(String(one)) : one] as const,
      ),
    )
    return Object.fromEntries(pairs)
  }
  const pairs = await Promise.all(
    Object.entries(members).map(async ([name, value]) => {
      if (name === 'selector') return [name, await map(String(value))] as const
      if (name !== 'rules' && name !== 'tests') return [name, value] as const
      return [name, await Promise.all((Array.isArray(value) ? value : []).map(entry))] as const
    }),
  )
  return Object.fromEntries(pairs)
}
