import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { policies } from '../../../shared/contract/policies.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { targetsOf } from '../../derive/input.ts'
import { perform } from '../../derive/perform.ts'
import { counted } from '../../output/counts.ts'
import { isScreen } from '../../output/screen.ts'
import { harmless } from '../../output/style.ts'
import { operationOf } from '../../session/noun-lists.ts'

type Graph = Result<(typeof policies)['operations']['GetPolicyGraph']>

const FLAGS = {
  format: {
    kind: 'text',
    value: 'FORMAT',
    choices: ['text', 'dot', 'mermaid'],
    describe: 'Lines, or a picture for Graphviz or Mermaid',
    fallback: 'text',
  },
} as const satisfies FlagSpecs

/** Shows which groups of nodes may reach which. */
export function graph(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetPolicyGraph')
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    description:
      'Nodes are in one group when no policy tells them apart; a group goes by the policies that match it. -o json has every group with its nodes.',
    flags: { ...derived.flags, ...FLAGS },
    examples: ['ctl policies graph', 'ctl policies graph --format dot | dot -Tsvg > reach.svg'],
    async run(session, given) {
      const { format = 'text', ...flags } = given.flags
      const isData = !(await isScreen(session))
      if (isData && given.flags['format'] !== undefined)
        throw usageError('--format is for people, and flags of tables and data are not: give one of them')
      if (isData || session.shared.curl === true) return perform(session, { operation }, { ...given, flags })
      const [target] = await targetsOf(session, { operation }, { ...given, flags })
      const { value } = await (await session.caller()).call(operation, target?.input ?? {})
      const found = value as Graph // What the contract says of 200.
      session.io.stdout.write(`${(WRITERS[String(format)] ?? lines)(found).join('\n')}\n`)
      if (found.omitted_groups > 0) session.warn(`${counted(found.omitted_groups, 'smaller group')} left out`)
    },
  }
}

type Group = Graph['groups'][number]

/** `db-in (2 nodes: db-1, db-2)`. */
function nameOf({ policies: slugs, node_count: count, sample }: Group): string {
  const names = sample.map(({ name }) => name)
  const more = count > names.length ? ', …' : ''
  const title = slugs.length === 0 ? 'no policy' : slugs.join(' + ')
  return harmless(`${title} (${counted(count, 'node')}: ${names.join(', ')}${more})`)
}

function lines({ groups, edges }: Graph): readonly string[] {
  return groups.flatMap((group) => {
    const to = edges.filter(({ from }) => from === group.group)
    const reached = to.map((edge) => {
      const other = groups.find((one) => one.group === edge.to)
      return `  → ${other === undefined ? '' : nameOf(other)}: ${harmless(edge.flows.join(', '))}`
    })
    return [nameOf(group), ...(reached.length === 0 ? ['  reaches nothing'] : reached)]
  })
}

function dot({ groups, edges }: Graph): readonly string[] {
  const text = (label: string): string => `"${harmless(label).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
  return [
    'digraph policies {',
    '  node [shape=box, style=rounded, fontname="sans-serif"];',
    '  edge [fontname="sans-serif", fontsize=10];',
    ...groups.map((one) => `  g${one.group} [label=${text(nameOf(one))}];`),
    ...edges.map(({ from, to, flows }) => `  g${from} -> g${to} [label=${text(flows.join(', '))}];`),
    '}',
  ]
}

function mermaid({ groups, edges }: Graph): readonly string[] {
  const text = (label: string): string =>
    harmless(label).replaceAll(/["#&<>;`\\]/g, (character) => `#${character.charCodeAt(0)};`)
  return [
    'flowchart LR',
    ...groups.map((one) => `  g${one.group}["${text(nameOf(one))}"]`),
    ...edges.map(({ from, to, flows }) => `  g${from} -- "${text(flows.join(', '))}" --> g${to}`),
  ]
}

const WRITERS: Readonly<Record<string, (graph: Graph) => readonly string[]>> = { text: lines, dot, mermaid }
