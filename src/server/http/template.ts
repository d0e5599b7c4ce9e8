import type { ObjectTemplate } from '../../shared/contract/operation.ts'

/** Members by which a template's holes are filled. */
type Members = Readonly<Record<string, unknown>>

/** Everything that a template may use at this stage of the request. */
export interface TemplateSources {
  readonly path: Members
  readonly query: Members
  readonly caller: Members
  readonly body?: Members | undefined
  readonly row?: Members | undefined
}

/** When every hole can be filled: before the body is read, after it was parsed, or once the stored row is known. */
export type Stage = 'request' | 'body' | 'row'

export interface CompiledTemplate {
  readonly stage: Stage
  /** The template as it is declared. */
  readonly text: string
  /** The object reference, or undefined when a hole is empty. */
  render(sources: TemplateSources): string | undefined
}

type Part = string | { readonly source: keyof TemplateSources; readonly member: string }

const HOLE = /\{(path|query|caller|body|row)\.([a-z_]+)\}/g

/** Compiles a template. Throws an Error that quotes it when it has a malformed hole: a mistake in the contract. */
export function compileTemplate(template: ObjectTemplate): CompiledTemplate {
  const parts = partsOf(template)
  const sources = parts.flatMap((part) => (typeof part === 'string' ? [] : [part.source]))
  const stage = sources.includes('row') ? 'row' : sources.includes('body') ? 'body' : 'request'
  const [only] = parts
  if (parts.length === 1 && typeof only === 'string') return { stage, text: template, render: () => only }
  return { stage, text: template, render: (from) => fill(parts, from) }
}

function partsOf(template: ObjectTemplate): readonly Part[] {
  const parts: Part[] = []
  let end = 0
  for (const match of template.matchAll(HOLE)) {
    if (match.index > end) parts.push(template.slice(end, match.index))
    // The pattern admits no other source and always captures the member.
    parts.push({ source: match[1] as keyof TemplateSources, member: match[2] ?? '' })
    end = match.index + match[0].length
  }
  if (end < template.length) parts.push(template.slice(end))
  if (parts.some((part) => typeof part === 'string' && /[{}]/.test(part))) {
    throw new Error(`the object template ${template} has a hole that names no path, query, caller, body or row member`)
  }
  return parts
}

function fill(parts: readonly Part[], from: TemplateSources): string | undefined {
  let text = ''
  for (const part of parts) {
    const value = typeof part === 'string' ? part : from[part.source]?.[part.member]
    if (typeof value !== 'string' || value === '') return undefined
    text += value
  }
  return text
}
