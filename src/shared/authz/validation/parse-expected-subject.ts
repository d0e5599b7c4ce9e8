import { scanObjectRelation, scanSubject, nameOf } from './references.ts'
import { createScanner } from './scanner.ts'
import { TextFault } from './text-fault.ts'

/** A subject, and whether it depends on a caveat: `user:anne[...]`. */
export interface MarkedSubject {
  readonly name: string
  readonly isConditional: boolean
}

/** A subject that a relation or permission should have, and through which relations. */
export interface ExpectedSubject extends MarkedSubject {
  readonly isWildcard: boolean
  readonly exceptions: readonly MarkedSubject[]
  /** `<type>:<id>#<relation>`, sorted. */
  readonly through: readonly string[]
}

const SUBJECT = /\[(.*)\]/
const BODY = /^([^\]\s]+?)(\[\.\.\.\])?(?:\s+-\s+\{([^}]+)\})?$/
const THROUGH = /<([^>]+)>/g
const MARK = '[...]'

/**
 * Parses `[user:anne] is <document:plan#viewer>/<group:eng#member>`, `[user:anne[...]] is …` and
 * `[user:* - {user:bob, user:eve[...]}] is …`.
 * @throws TextFault
 */
export function parseExpectedSubject(text: string): ExpectedSubject {
  const found = SUBJECT.exec(text)
  if (found === null)
    throw new TextFault(0, `expected a subject in brackets, such as "[user:anne] is …", found ${JSON.stringify(text)}`)
  const body = found[1] ?? ''
  const offset = found.index + 1
  const parts = BODY.exec(body.trim())
  if (parts === null) {
    throw new TextFault(
      offset,
      `expected a subject, "[...]" after it if it is conditional, and "- {…}" after a wildcard, found ${JSON.stringify(body)}`,
    )
  }
  const [, subject = '', mark, exceptions] = parts
  const at = offset + body.length - body.trimStart().length
  const name = subjectName(subject, at)
  return {
    name,
    isConditional: mark !== undefined,
    isWildcard: name.endsWith(':*'),
    exceptions: exceptions === undefined ? [] : exceptionsOf(exceptions, text.indexOf('{', at) + 1),
    through: [...text.matchAll(THROUGH)]
      .map(([, inner = '']) => inner)
      .map((inner) => relationName(inner, text))
      .toSorted(),
  }
}

function exceptionsOf(text: string, offset: number): MarkedSubject[] {
  let at = offset
  return text.split(',').map((each) => {
    const begin = at + each.length - each.trimStart().length
    at += each.length + 1
    const trimmed = each.trim()
    const isConditional = trimmed.endsWith(MARK)
    return { name: subjectName(isConditional ? trimmed.slice(0, -MARK.length) : trimmed, begin), isConditional }
  })
}

function subjectName(text: string, offset: number): string {
  return shifted(offset, () => {
    const scanner = createScanner(text)
    const subject = scanSubject(scanner)
    if (!scanner.isAtEnd()) scanner.fail('the end of the subject')
    return nameOf(subject)
  })
}

function relationName(inner: string, text: string): string {
  return shifted(text.indexOf(`<${inner}>`) + 1, () => nameOf(parseObjectRelation(inner)))
}

/** Parses `<type>:<id>#<relation>` and nothing else. @throws TextFault */
export function parseObjectRelation(text: string): ReturnType<typeof scanObjectRelation> {
  const scanner = createScanner(text)
  const found = scanObjectRelation(scanner)
  return scanner.isAtEnd() ? found : scanner.fail('the end of the reference')
}

/** Moves the fault of a part to its place in the whole. */
function shifted<T>(offset: number, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw error instanceof TextFault ? new TextFault(offset + error.offset, error.message) : error
  }
}
