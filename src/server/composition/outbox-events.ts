import { SHARED_EVENTS, type OutboxDeclarations, type OutboxLiteral } from '../ports/outbox-events.ts'
import type { SliceModule } from './slice-module.ts'
import { SLICES } from './slices.ts'

type Exported = (typeof SLICES)[number] extends infer Module
  ? Module extends { readonly events: infer Events }
    ? keyof Events
    : never
  : never
type Missing = Exclude<OutboxLiteral, Exported | keyof typeof SHARED_EVENTS>

/** Every event. One that a slice adds to the types and does not export is a compile error that names it. */
type AllEvents = [Missing] extends [never]
  ? OutboxDeclarations
  : { readonly [Literal in Missing]: 'no slice exports this event' }

const modules: readonly SliceModule[] = SLICES

/** Payload and audience of every event that a change may append to the outbox. */
export const OUTBOX_EVENTS: AllEvents = Object.fromEntries(
  [SHARED_EVENTS, ...modules.map(({ events = {} }) => events)].flatMap((events) => Object.entries(events)),
)
