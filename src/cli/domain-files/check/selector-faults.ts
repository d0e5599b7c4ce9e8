import { bindSelector, nearestDefinition } from '../../../shared/selectors/bind-selector.ts'
import { parseSelector } from '../../../shared/selectors/parse-selector.ts'
import { isRow, type Row } from '../../output/members.ts'
import { isSame } from '../canonical.ts'
import type { FileDocument } from '../document.ts'
import type { ValueFault } from '../schema/value-fault.ts'
import type { Catalogue } from './catalogue.ts'

const IN_RULES = ['peers', 'except_peers', 'from', 'to']

interface Selector {
  readonly path: readonly (string | number)[]
  readonly text: string
}

/** Selectors of a policy that do not parse, whose keys have no Definition, or whose values have another type. */
export async function selectorFaults(catalogue: Catalogue, document: FileDocument): Promise<readonly ValueFault[]> {
  if (document.kind !== 'policy') return []
  const present = catalogue.liveOf(document)?.members ?? {}
  const selectors = Object.entries(document.members).flatMap(([name, value]) =>
    isSame(value, present[name]) ? [] : selectorsOf(name, value),
  )
  const faults = await Promise.all(selectors.map((selector) => faultsOf(catalogue, selector)))
  return faults.flat()
}

function selectorsOf(name: string, value: unknown): readonly Selector[] {
  if (name === 'selector') return [{ path: [name], text: String(value) }]
  if (!Array.isArray(value) || !['rules', 'tests'].includes(name)) return []
  return value.flatMap((entry: unknown, index) => (isRow(entry) ? inEntry(entry, [name, index]) : []))
}

function inEntry(entry: Row, path: Selector['path']): readonly Selector[] {
  return IN_RULES.flatMap((name) => {
    const text = entry[name]
    return typeof text === 'string' ? [{ path: [...path, name], text }] : []
  })
}

async function faultsOf({ names }: Catalogue, { path, text }: Selector): Promise<readonly ValueFault[]> {
  const sent = await names.sentSelector(text)
  // A Project that is still to be created has no id, by which alone its keys can be looked up.
  if (/project:(?![0-9a-f-]{36}\/)[^/\s,"]+\//.test(sent)) return []
  const domainId = names.domainId
  const { errors } = bindSelector(
    parseSelector(sent),
    (key) => nearestDefinition(names.definitions, { domainId }, key),
    names.definitions,
  )
  return errors.slice(0, 1).map(({ message }) => ({ path, message: names.shownSelector(message) }))
}
