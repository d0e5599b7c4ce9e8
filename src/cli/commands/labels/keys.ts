import { usageError } from '../../errors/cli-error.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { placeFlag } from '../../derive/places.ts'
import { createResolver, type Resolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'

/** A key as people type it: `env`, `platform/env`, `domain:acme/env` or `project:web/env`. */
export interface TypedKey {
  readonly text: string
  /** `platform`, `domain:acme` or `project:web`; undefined for a bare key. */
  readonly scope: string | undefined
  readonly localKey: string
}

const QUALIFIED = /^(platform|(?:domain|project):[^/]+)\/(.*)$/s

/** Splits a key. A bare key may contain slashes: only a scope in front makes it a qualified one. */
export function typedKey(text: string): TypedKey {
  const [, scope, localKey = text] = QUALIFIED.exec(text) ?? []
  return { text, scope, localKey }
}

/** Where names are looked up, and whose Domain a bare key belongs to. */
export const PLACES: FlagSpecs = {
  domain: { ...placeFlag('domains'), describe: 'Domain of bare keys, and where names are looked up' },
  project: placeFlag('projects'),
}

/** A scope as the API takes it. Throws a usage error for another text, and what a look-up throws. */
export async function scopeNamed(resolver: Resolver, text: string): Promise<string> {
  if (text === 'platform') return text
  if (!/^(domain|project):./.test(text))
    throw usageError(`"${text}" is no scope of labels`, 'It is platform, domain:NAME or project:NAME.')
  return resolver.resource(text, {})
}

/** The scope of a key: that in front of it, else the Domain in which the command works. */
export async function scopeOfKey(session: Session, { scope }: TypedKey): Promise<string> {
  const resolver = createResolver(session)
  return scope === undefined ? domainScope(resolver) : scopeNamed(resolver, scope)
}

/** The scope of the Domain in which a command works. Throws a usage error where there is none. */
export async function domainScope(resolver: Resolver): Promise<string> {
  const domain = await resolver.fallback('domains', {})
  if (domain !== undefined) return `domain:${domain.id}`
  throw usageError('--domain is missing', 'Add --domain, or write the scope in front of the key: platform/env')
}
