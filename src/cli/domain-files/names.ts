import { canonicalSelector } from '../../shared/selectors/canonical-selector.ts'
import { bindSelector, nearestDefinition, type Definition } from '../../shared/selectors/bind-selector.ts'
import { parseSelector } from '../../shared/selectors/parse-selector.ts'
import type { Row } from '../output/members.ts'
import { withScopeIds } from '../argv/selector-scopes.ts'

/** Types of objects that files name. `serviceaccount` is written `service` in references. */
export type NamedType = 'project' | 'node' | 'group' | 'user' | 'serviceaccount' | 'resource'

/** A Definition with its members, as the API or a file has them. */
export interface NamedDefinition extends Definition {
  readonly members?: Row
}

/** Names and ids of the objects of a Domain, in both directions. */
export interface Names {
  readonly domainId: string
  readonly domainSlug: string
  add(type: NamedType, name: string, id: string): void
  idOf(type: NamedType, name: string): string | undefined
  nameOf(type: NamedType, id: string): string | undefined
  /** Definitions that labels and selectors of the Domain may name. */
  define(definition: NamedDefinition): void
  readonly definitions: readonly NamedDefinition[]
  /** References to all objects that have names, such as `service:build`. */
  references(): readonly string[]
  /** `user:<uuid>` or `group:<uuid>#member` as `user:ann` or `group:ops`; ids without a name stay. */
  shownReference(reference: string): string
  /** The reverse of `shownReference`; undefined where there is no such object. */
  reference(shown: string): string | undefined
  /** `domain:<own id>/tier` as `tier`, `project:<id>/weight` as `project:web/weight`. */
  shownKey(qualifiedKey: string): string
  /** The reverse of `shownKey`: the key of the nearest Definition, or of one that does not exist yet. */
  qualifiedKey(shown: string): string
  /** A selector with the names of scopes and with bare keys of the Domain. */
  shownSelector(selector: string): string
  /** A selector of a file in the form that `shownSelector` gives, where its keys are defined; else as it is. */
  normalSelector(text: string): Promise<string>
  /** A selector of a file as the API takes it. */
  sentSelector(text: string): Promise<string>
}

/** How references name types. */
const SHOWN_TYPES: Readonly<Record<string, string>> = { serviceaccount: 'service' }
const TYPES: Readonly<Record<string, NamedType>> = {
  user: 'user',
  service: 'serviceaccount',
  serviceaccount: 'serviceaccount',
  group: 'group',
  project: 'project',
  node: 'node',
  resource: 'resource',
  network: 'resource',
  workload: 'resource',
}

/** Makes the names of a Domain. */
export function createNames(domainId: string, domainSlug: string): Names {
  const ids = new Map<string, string>()
  const names = new Map<string, string>()
  const definitions: NamedDefinition[] = []

  function shownReference(sent: string): string {
    const [type, rest] = split(sent, ':')
    const [id = '', relation] = rest.split('#')
    const shownType = SHOWN_TYPES[type] ?? type
    if (type === 'domain' && id === domainId) return 'domain'
    const name = TYPES[type] === undefined ? undefined : names.get(`${TYPES[type]} ${id}`)
    const suffix = relation === undefined || (type === 'group' && relation === 'member') ? '' : `#${relation}`
    return `${shownType}:${name ?? id}${suffix}`
  }

  function reference(shown: string): string | undefined {
    if (shown === 'domain') return `domain:${domainId}`
    const [shownType, name] = split(shown, ':')
    const type = TYPES[shownType]
    if (type === undefined) return shown
    const known = ids.get(`${type} ${name}`)
    const id = known ?? (names.has(`${type} ${name}`) || name === '*' ? name : undefined)
    const written = shownType === 'service' ? 'serviceaccount' : shownType
    return id === undefined ? undefined : `${written}:${id}${type === 'group' ? '#member' : ''}`
  }

  function shownKey(key: string): string {
    const own = `domain:${domainId}/`
    if (key.startsWith(own)) return key.slice(own.length)
    return key.replace(/^project:([0-9a-f-]{36})\//, (whole, id: string) => {
      const name = names.get(`project ${id}`)
      return name === undefined ? whole : `project:${name}/`
    })
  }

  function qualifiedKey(shown: string): string {
    if (shown.startsWith('platform/') || shown.startsWith('domain:')) return withOwnDomain(shown)
    const [scope, rest] = split(shown, '/')
    const project = scope.startsWith('project:') ? scope.slice('project:'.length) : undefined
    if (project !== undefined) return `project:${ids.get(`project ${project}`) ?? project}/${rest}`
    return (
      nearestDefinition(definitions, { domainId }, { scope: undefined, localKey: shown })?.qualifiedKey ??
      `domain:${domainId}/${shown}`
    )
  }

  const withOwnDomain = (text: string): string => text.replace(`domain:${domainSlug}/`, `domain:${domainId}/`)

  const shownSelector = (selector: string): string =>
    selector.replaceAll(`domain:${domainId}/`, '').replaceAll(/project:([0-9a-f-]{36})\//g, (whole, id: string) => {
      const name = names.get(`project ${id}`)
      return name === undefined ? whole : `project:${name}/`
    })

  const sentSelector = (text: string): Promise<string> => {
    const resource = async (scope: string): Promise<string> => {
      if (scope === `domain:${domainSlug}`) return `domain:${domainId}`
      const name = scope.slice('project:'.length)
      return scope.startsWith('project:') ? `project:${ids.get(`project ${name}`) ?? name}` : scope
    }
    return withScopeIds({ resource }, text)
  }

  return {
    domainId,
    domainSlug,
    add(type, name, id) {
      ids.set(`${type} ${name}`, id)
      names.set(`${type} ${id}`, name)
    },
    idOf: (type, name) => ids.get(`${type} ${name}`),
    nameOf: (type, id) => names.get(`${type} ${id}`),
    define: (definition) => void definitions.push(definition),
    definitions,
    references: () =>
      [...ids.keys()].map((key) => {
        const [type, name] = split(key, ' ')
        return `${SHOWN_TYPES[type] ?? type}:${name}`
      }),
    shownReference,
    reference,
    shownKey,
    qualifiedKey,
    shownSelector,
    sentSelector,
    async normalSelector(text) {
      const sent = await sentSelector(text)
      const { bound } = bindSelector(parseSelector(sent), (key) => nearestDefinition(definitions, { domainId }, key))
      return bound === undefined ? text : shownSelector(canonicalSelector(bound))
    },
  }
}

function split(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
