import { scanObjectRelation, scanSubject, nameOf } from './references.ts'
import { createScanner, excerpt } from './scanner.ts'
import { TextFault } from './text-fault.ts'

/** A subject, and whether it depends on a caveat: `user:anne[...]`. */
export interface MarkedSubject {
  readonly name: string
  readonly isConditional: boolean
}

/** An expected subject of a relation or permission, and the relations through which it is found. */
export interface ExpectedSubject extends MarkedSubject {
  readonly exceptions: readonly MarkedSubject[]
  /** `<type>:<id>#<relation>`, sorted. */
  readonly through: readonly string[]
}

const BODY = /^([^\]\s]+?)(\[\.\.\.\])?(?:\s+-\s+\{([^}]+)\})?$/
const THROUGH = /<([^<>]+)>/g
const MARK = '[...]'

/**
 * Parses `[user:anne] is <document:plan#viewer>/<group:eng#member>`, `[user:anne[...]] is …` and
 * `[user:* - {user:bob, user:eve[...]}] is …`.
 * @throws TextFault
 */
export function parseExpectedSubject(text: string): ExpectedSubject {
  const offset = text.indexOf('[') + 1
  const end = text.lastIndexOf(']')
  if (offset === 0 || end < offset) {
    const found = excerpt(text)
    throw new TextFault(0, `expected a subject in brackets, such as "[user:anne] is …", found ${found}`)
  }
  const body = text.slice(offset, end)
  const parts = BODY.exec(body.trim())
  if (parts === null) {
    const what = 'a subject, "[...]" after it if it is conditional, and "- {…}" after a wildcard'
    throw new TextFault(offset, `expected ${what}, found ${excerpt(body)}`)
  }
  const [, subject = '', mark, exceptions] = parts
  const at = offset + body.length - body.trimStart().length
  const name = subjectName(subject, at)
  return {
    name,
    isConditional: mark !== undefined,
    exceptions: exceptions === undefined ? [] : exceptionsOf(exceptions, text.indexOf('{', at) + 1),
    through: [...text.matchAll(THROUGH)].map(relationName).toSorted(),
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

function relationName({ 1: inner = '', index }: RegExpExecArray): string {
  return shifted(index + 1, () => nameOf(parseObjectRelation(inner)))
}

/** Parses `<type>:<id>#<relation>` and nothing else. @throws TextFault */
export function parseObjectRelation(text: string): ReturnType<typeof scanObjectRelation> {
  const scanner = createScanner(text)
  const found = scanObjectRelation(scanner)
  return scanner.isAtEnd() ? found : scanner.fail('the end of the reference')
}

/** Adds the offset of a part to the offset of its fault. */
function shifted<T>(offset: number, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw error instanceof TextFault ? new TextFault(offset + error.offset, error.message) : error
  }
}
