import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Node } from 'yaml'
import { nearest } from '../../../shared/nearest.ts'

/** A node of a YAML document with its position. */
export interface Place {
  /** Dotted, for messages; empty for the whole document. */
  readonly path: string
  /** From 1. */
  readonly line: number
  readonly value: unknown
  /** The members of an object, each of which must be known. @throws YamlFault */
  members(known: readonly string[]): ReadonlyMap<string, Place>
  /** The items of a list. @throws YamlFault */
  items(): readonly Place[]
  /** Makes the error for this place. */
  fault(message: string): YamlFault
}

/** An error in a document, with its line. */
export class YamlFault extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.name = 'YamlFault'
    this.line = line
  }
}

/** Parses a YAML document. Aliases are not resolved. @throws YamlFault */
export function readYaml(text: string): Place {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const [error] = document.errors
  if (error !== undefined) throw new YamlFault(error.linePos?.[0].line ?? 1, firstSentence(error.message))
  return placeOf(document.contents, { path: '', lines, line: 1 })
}

interface Position {
  readonly path: string
  readonly lines: LineCounter
  /** The line of a place without a node. */
  readonly line: number
}

function placeOf(node: Node | null, { path, lines, line: fallback }: Position): Place {
  const line = node?.range ? lines.linePos(node.range[0]).line : fallback
  const fault = (message: string): YamlFault => new YamlFault(line, path === '' ? message : `${path}: ${message}`)
  return {
    path,
    line,
    value: isScalar(node) ? node.value : undefined,
    fault,
    members(known) {
      if (!isMap(node)) throw fault(`must have members: ${known.join(', ')}`)
      return new Map(
        node.items.map(({ key, value }): [string, Place] => {
          const keyNode = key as Node
          const name = isScalar(keyNode) ? String(keyNode.value) : ''
          const at = { path: path === '' ? name : `${path}.${name}`, lines, line: lineAt(keyNode, lines) ?? line }
          if (!known.includes(name)) throw new YamlFault(at.line, unknown(at.path, known, name))
          return [name, placeOf(value as Node | null, at)]
        }),
      )
    },
    items() {
      if (!isSeq(node)) throw fault('must be a list')
      return node.items.map((item, index) => placeOf(item as Node | null, { path: `${path}[${index}]`, lines, line }))
    },
  }
}

function lineAt(node: Node, lines: LineCounter): number | undefined {
  return node.range ? lines.linePos(node.range[0]).line : undefined
}

function unknown(path: string, known: readonly string[], name: string): string {
  const near = nearest(name, known)
  return `${path} is not known here; ${near === undefined ? `there is ${known.join(', ')}` : `did you mean ${near}?`}`
}

function firstSentence(message: string): string {
  return (message.split('\n')[0] ?? message).replace(/ at line \d+, column \d+:?$/, '')
}
