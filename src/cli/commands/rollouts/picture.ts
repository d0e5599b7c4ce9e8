import { shortDuration } from '../../argv/duration.ts'
import { relative } from '../../output/cells.ts'
import { counted } from '../../output/counts.ts'
import { harmless, type Style } from '../../output/style.ts'
import { displayWidth, fitted, padded } from '../../output/width.ts'
import type { Rollout, WaveCounts } from './answers.ts'
import { waveText } from './wave-text.ts'
import { windowText } from './window-text.ts'

/** How and where a picture is drawn. */
export interface Canvas {
  readonly style: Style
  /** Columns of the terminal. */
  readonly columns: number
  readonly nowMs: number
}

type State = keyof WaveCounts

/** States in the order of a bar, each with its cell: a picture without colours says the same. */
const CELLS = {
  done: { cell: '█', paint: 'good' },
  failed: { cell: 'x', paint: 'bad' },
  skipped: { cell: '-', paint: 'dim' },
  soaking: { cell: '▓', paint: 'good' },
  upgrading: { cell: '▒', paint: 'warn' },
  pending: { cell: '░', paint: 'dim' },
} as const satisfies Readonly<Record<State, { readonly cell: string; readonly paint: keyof Style }>>

const STATES = Object.keys(CELLS) as readonly State[] // The keys of the table.
const BAR_CELLS = 24
const BAR_CELLS_MIN = 8
/** A longer target is cut. */
const TARGET_WIDTH_MAX = 16
const OTHERS_WIDTH_MIN = 8
const GAP = '  '
const LABEL_WIDTH = 10

/** A rollout on one screen: its plan, its state, and a bar for each wave. */
export function rolloutLines(rollout: Rollout, canvas: Canvas): readonly string[] {
  const facts = [...planFacts(rollout), ...stateFacts(rollout, canvas)]
  const { style, columns } = canvas
  const lines = facts.map(([title, text]) => {
    const shown = fitted(harmless(text), Math.max(20, columns - LABEL_WIDTH - 1))
    return `${style.bold(title.padEnd(LABEL_WIDTH))}${title === 'status' ? paintStatus(rollout, shown, style) : shown}`
  })
  return [...lines, '', ...waveLines(rollout, canvas)]
}

type Fact = readonly [title: string, text: string]

function planFacts(rollout: Rollout): readonly Fact[] {
  const { slug, version, selector, max_in_flight: atOnce, soak_seconds: soak, window } = rollout
  const soaked = soak === 0 ? '' : `, healthy for ${shortDuration(soak)} each`
  return [
    ['rollout', `${slug} (${rollout.id})`],
    ['release', `${version}${rollout.allow_downgrade ? ', also where a newer one runs' : ''}`],
    ['nodes', `${rollout.started_at === null ? 'those that match when it starts' : rollout.node_count}: ${selector}`],
    ['limits', `${counted(atOnce, 'node')} at a time${soaked}`],
    ...(window === null ? [] : [['window', windowText(window)] as const]),
  ]
}

function stateFacts(rollout: Rollout, { nowMs }: Canvas): readonly Fact[] {
  const { failures, max_failures: most, halted_reason: reason, updated_at: at } = rollout
  return [
    ['status', `${statusText(rollout)}, ${relative(at, nowMs)}`],
    ...(reason === null ? [] : [['reason', reason] as const]),
    ['failures', `${failures}; ${most === 0 ? 'the first one halts' : `more than ${most} halt`} the rollout`],
  ]
}

/** `running, wave 2 of 3, waits for its window`. */
export function statusText({ status, wave, waves, waiting_for: waiting }: Rollout): string {
  const place = wave === null ? '' : `, ${wave === 0 ? 'canaries' : `wave ${wave} of ${waves.length}`}`
  const why = waiting === null ? '' : `, waits for ${WAITS[waiting]}`
  return `${status}${place}${why}`
}

const WAITS = { window: 'its maintenance window', capacity: 'capacity of the Domain' } as const

function paintStatus({ status }: Rollout, text: string, style: Style): string {
  if (status === 'halted') return style.bad(text)
  return status === 'completed' ? style.good(text) : text
}

interface WaveRow {
  readonly name: string
  readonly target: string
  readonly nodes: number
  readonly counts: WaveCounts
}

const NONE: WaveCounts = { pending: 0, upgrading: 0, soaking: 0, done: 0, failed: 0, skipped: 0 }

/** The canaries and all waves, those without nodes too. */
function waveRows({ canaries, waves, progress }: Rollout): readonly WaveRow[] {
  const row = (wave: number, target: string): WaveRow => {
    const found = progress.find((one) => one.wave === wave)
    const name = wave === 0 ? 'canaries' : String(wave)
    return { name, target, nodes: found?.nodes ?? 0, counts: found?.counts ?? NONE }
  }
  const first = canaries > 0 ? [row(0, counted(canaries, 'node'))] : []
  return [...first, ...waves.map((wave, index) => row(index + 1, fitted(harmless(waveText(wave)), TARGET_WIDTH_MAX)))]
}

function waveLines(rollout: Rollout, { style, columns }: Canvas): readonly string[] {
  const rows = waveRows(rollout)
  if (rollout.started_at === null) {
    const plan = rows.map(({ name, target }) => `${padded(name, LABEL_WIDTH)}${target}`)
    return [style.bold(`${'WAVE'.padEnd(LABEL_WIDTH)}TARGET`), ...plan]
  }
  const [target, done] = [
    widest(
      'TARGET',
      rows.map((row) => row.target),
    ),
    widest('DONE', rows.map(doneText)),
  ]
  const fixed = LABEL_WIDTH + target + done + 3 * GAP.length + 1
  const cells = Math.min(BAR_CELLS, Math.max(BAR_CELLS_MIN, columns - fixed - OTHERS_WIDTH_MIN))
  const head = [padded('WAVE', LABEL_WIDTH) + padded('TARGET', target), ' '.repeat(cells), 'DONE'.padStart(done)]
  const others = Math.max(OTHERS_WIDTH_MIN, columns - fixed - cells)
  const lines = rows.map((row) => [
    padded(row.name, LABEL_WIDTH) + padded(row.target, target),
    bar(row, cells, style),
    doneText(row).padStart(done),
    fitted(othersText(row.counts), others),
  ])
  return [style.bold(head.join(GAP)), ...lines.map((line) => line.join(GAP).trimEnd()), ...legend(style, columns)]
}

function widest(title: string, cells: readonly string[]): number {
  return Math.max(title.length, ...cells.map(displayWidth))
}

function doneText({ counts, nodes }: WaveRow): string {
  return `${counts.done}/${nodes}`
}

/** What the nodes are that are neither done nor waiting for their turn. */
function othersText(counts: WaveCounts): string {
  return STATES.filter((state) => state !== 'done' && state !== 'pending' && counts[state] > 0)
    .map((state) => `${counts[state]} ${state}`)
    .join(', ')
}

function bar({ counts, nodes }: WaveRow, cells: number, style: Style): string {
  if (nodes === 0) return ' '.repeat(cells)
  const widths = barWidths(counts, nodes, cells)
  return STATES.map((state) => style[CELLS[state].paint](CELLS[state].cell.repeat(widths[state]))).join('')
}

/** A state that any node is in has a cell at least; the widest one gives way for it. */
function barWidths(counts: WaveCounts, nodes: number, cells: number): Record<State, number> {
  const widths = { ...NONE }
  for (const state of STATES)
    widths[state] = counts[state] === 0 ? 0 : Math.max(1, Math.round((counts[state] / nodes) * cells))
  const excess = (): number => STATES.reduce((total, state) => total + widths[state], -cells)
  const broadest = (): State => STATES.reduce((one, other) => (widths[other] > widths[one] ? other : one))
  while (excess() !== 0) widths[broadest()] -= Math.sign(excess())
  return widths
}

/** What the cells mean, where there is room for it. */
function legend(style: Style, columns: number): readonly string[] {
  const plain = STATES.map((state) => `${CELLS[state].cell} ${state}`).join(GAP)
  if (plain.length >= columns) return []
  return ['', STATES.map((state) => `${style[CELLS[state].paint](CELLS[state].cell)} ${state}`).join(GAP)]
}

/** All nodes of a rollout, by their state. */
export function totalsOf({ progress }: Rollout): WaveCounts {
  const totals = { ...NONE }
  for (const { counts } of progress) for (const state of STATES) totals[state] += counts[state]
  return totals
}

/** `980 done, 2 failed`: the states that nodes are in, in the order of a bar. */
export function totalsText(totals: WaveCounts): string {
  const texts = STATES.filter((state) => totals[state] > 0).map((state) => `${totals[state]} ${state}`)
  return texts.join(', ') || 'no nodes'
}
