import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import { compilePolicy } from '../../src/shared/policies/compile-policy.ts'
import type { PolicyDocument, PolicyTest } from '../../src/shared/policies/policy-document.ts'
import { verdictOf, type Party } from '../../src/shared/policies/verdict.ts'
import { bindSelector, nearestDefinition, type Definition } from '../../src/shared/selectors/bind-selector.ts'
import { canonicalSelector } from '../../src/shared/selectors/canonical-selector.ts'
import { matches } from '../../src/shared/selectors/evaluate-selector.ts'
import { parseSelector } from '../../src/shared/selectors/parse-selector.ts'

const DOMAIN = '019c1a10-0000-7000-8000-0000000d0001'

/** A policy of the document. */
export interface WrittenPolicy extends Omit<PolicyDocument, 'tests'> {
  readonly slug: string
  readonly tests?: readonly PolicyTest[]
}

/** A recipe: its title and its policies. */
export interface Recipe {
  readonly title: string
  readonly policies: readonly WrittenPolicy[]
}

interface WrittenNode {
  readonly name: string
  readonly meshAddress: string
  readonly labels: ReadonlyMap<string, string>
}

const TEXT = readFileSync(new URL('../../docs/policies.md', import.meta.url), 'utf8')

/** The recipes of docs/policies.md, in order. */
export function recipes(): readonly Recipe[] {
  const sections = TEXT.split(/^### /m).slice(1)
  return sections.flatMap((section) => {
    const [, yaml] = /^```yaml\n([\s\S]*?)^```$/m.exec(section) ?? []
    if (yaml === undefined) return []
    const documents = parseAllDocuments(yaml)
    const policies = documents.map((one) => one.toJS({}) as WrittenPolicy)
    return [{ title: section.split('\n')[0] ?? '', policies }]
  })
}

/** The nodes of the table in docs/policies.md. */
function nodes(): readonly WrittenNode[] {
  const rows = [...TEXT.matchAll(/^\| ([a-z]+-\d) \| (.*) \|$/gm)]
  return rows.map(([, name = '', labels = ''], index) => ({
    name,
    meshAddress: `100.64.0.${index + 1}`,
    labels: new Map(labels.split(', ').map((pair) => pair.split('=') as [string, string])),
  }))
}

/** What the nodes of the document may do under policies. */
export interface World {
  /** Names of the nodes that a selector matches. Throws for one with errors. */
  selected(selector: string): readonly string[]
  allowed(from: string, to: string, flow: { protocol: 'tcp' | 'udp' | 'icmp'; port?: number | undefined }): boolean
  /** The party of a node, for questions about addresses outside. */
  party(name: string): Party
}

/** Applies policies to the nodes of the document, with the shared parser, compiler and verdict. */
export function worldOf(policies: readonly WrittenPolicy[]): World {
  const all = nodes()
  const keys = new Set(all.flatMap(({ labels }) => [...labels.keys()]))
  const definitions: readonly Definition[] = [...keys].map((localKey) => ({
    id: localKey,
    scope: { kind: 'domain', id: DOMAIN },
    localKey,
    qualifiedKey: `domain:${DOMAIN}/${localKey}`,
    type: 'string',
    inherit: false,
  }))
  const bound = (text: string) => {
    const find = (key: Parameters<typeof nearestDefinition>[2]) =>
      nearestDefinition(definitions, { domainId: DOMAIN }, key)
    const { bound: selector, errors } = bindSelector(parseSelector(text), find)
    if (selector === undefined) throw new Error(`${text}: ${errors.map(({ message }) => message).join(' ')}`)
    return selector
  }
  const groups: string[] = []
  const groupOf = (text: string): number => {
    const canonical = canonicalSelector(bound(text))
    if (!groups.includes(canonical)) groups.push(canonical)
    return groups.indexOf(canonical) + 1
  }
  const compiled = policies.map((policy) => ({ policy, entries: compilePolicy(policy, groupOf).rules }))
  const parties = new Map(
    all.map(({ name, meshAddress, labels }) => [
      name,
      {
        meshAddress,
        groups: groups.flatMap((text, index) => (matches(bound(text), labels) ? [index + 1] : [])),
        policies: compiled.flatMap(({ policy, entries }) =>
          matches(bound(policy.selector), labels) ? [{ policyId: policy.slug, entries }] : [],
        ),
      },
    ]),
  )
  const party = (name: string): Party => {
    const found = parties.get(name)
    if (found === undefined) throw new Error(`the document has no node ${name}`)
    return found
  }
  return {
    selected: (text) => all.flatMap(({ name, labels }) => (matches(bound(text), labels) ? [name] : [])),
    allowed: (from, to, flow) => verdictOf(party(from), party(to), flow).allowed,
    party,
  }
}
