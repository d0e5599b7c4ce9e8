import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { type MeshName, ZONE } from './name-table.ts'

/** Where the block of an interface is in the text: from its first marker to the character after its last one. */
interface Place {
  readonly start: number
  readonly end: number
  /** The text before the block ended without a newline, which the block began with. */
  readonly isJoined: boolean
}

interface Line {
  readonly text: string
  readonly start: number
  readonly end: number
}

/**
 * Puts the names into the block of the interface, which is created at the end of the text or replaced where it is. The text is
 * Latin-1, one character a byte, so that bytes outside the block stay unchanged whatever their encoding.
 *
 * @throws CliError `hosts_block_broken` where the markers are not one pair.
 */
export function withBlock(text: string, interfaceName: string, names: readonly MeshName[]): string {
  const place = placeOf(text, interfaceName)
  const lines = names.map(({ name, address }) => `${address} ${name}.${ZONE}\n`).join('')
  const isJoined = place?.isJoined ?? (text !== '' && !text.endsWith('\n'))
  const block = `${beginOf(interfaceName, isJoined)}\n${lines}${endOf(interfaceName)}\n`
  if (place !== undefined) return text.slice(0, place.start) + block + text.slice(place.end)
  return `${text}${isJoined ? '\n' : ''}${block}`
}

/**
 * Takes the block of the interface out of the text, and the newline that was put before it, unless another program has
 * written after the block.
 *
 * @throws CliError `hosts_block_broken` where the markers are not one pair.
 */
export function withoutBlock(text: string, interfaceName: string): string {
  const place = placeOf(text, interfaceName)
  if (place === undefined) return text
  const before = text.slice(0, place.start)
  const after = text.slice(place.end)
  return (place.isJoined && after === '' ? before.replace(/\n$/, '') : before) + after
}

/**
 * Whether the text has the block of the interface.
 *
 * @throws CliError `hosts_block_broken` where the markers are not one pair.
 */
export function hasBlock(text: string, interfaceName: string): boolean {
  return placeOf(text, interfaceName) !== undefined
}

function placeOf(text: string, interfaceName: string): Place | undefined {
  const begins = [beginOf(interfaceName, false), beginOf(interfaceName, true)]
  const markers = [...begins, endOf(interfaceName)]
  const found = linesOf(text).filter((line) => markers.includes(line.text))
  const [begin, end, ...more] = found
  if (begin === undefined) return undefined
  if (end === undefined || more.length > 0 || !begins.includes(begin.text) || begins.includes(end.text))
    throw broken(interfaceName)
  return { start: begin.start, end: end.end, isJoined: begin.text === begins[1] }
}

/** Lines with their places, newline included; `text` is without it and without a carriage return before it. */
function linesOf(text: string): readonly Line[] {
  const lines: Line[] = []
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline + 1
    lines.push({ text: text.slice(start, end).replace(/\r?\n$/, ''), start, end })
    start = end
  }
  return lines
}

function beginOf(interfaceName: string, isJoined: boolean): string {
  const marker = `# BEGIN names of the mesh on ${interfaceName}, written by ctl agent`
  return isJoined ? `${marker} after a line without a newline` : marker
}

function endOf(interfaceName: string): string {
  return `# END names of the mesh on ${interfaceName}`
}

function broken(interfaceName: string): CliError {
  return new CliError('The block of mesh names in the hosts file is broken: its two marker lines are not one pair.', {
    exitCode: EXIT.conflict,
    code: 'hosts_block_broken',
    hints: [
      `Delete the lines from "${beginOf(interfaceName, false)}" to "${endOf(interfaceName)}", as far as they are there, then try again.`,
    ],
  })
}
