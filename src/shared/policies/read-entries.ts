import { parseCidr } from '../networks/cidr.ts'
import {
  DIRECTIONS,
  EVERY_NODE_GROUP,
  isGroup,
  PORT_MAX,
  RULE_PROTOCOLS,
  type AcceptEntry,
  type CompiledEntry,
  type Direction,
  type IsolateEntry,
} from './rule-types.ts'

/** The entries of a policy as an agent uses them. */
export interface ReadEntries {
  readonly entries: readonly CompiledEntry[]
  /** Number of entries that this version does not understand. */
  readonly unknown: number
}

/**
 * Reads the compiled rules of a policy, as state pulls and events carry them. An entry that this version does not understand
 * must never open more than its author meant (agent-protocol: Policies): an `accept` accepts nothing, since a member of a
 * later server may narrow it; any other entry isolates the direction that it names, or both.
 */
export function readEntries(rules: readonly unknown[]): ReadEntries {
  const entries: CompiledEntry[] = []
  let unknown = 0
  for (const rule of rules) {
    if (isAccept(rule) || isIsolate(rule)) entries.push(rule)
    else {
      unknown += 1
      entries.push(...restrictive(rule))
    }
  }
  return { entries, unknown }
}

function restrictive(rule: unknown): readonly CompiledEntry[] {
  const { action, direction } = isMembers(rule) ? rule : NO_MEMBERS
  if (action === 'accept') return []
  return (isDirection(direction) ? [direction] : DIRECTIONS).map((one) => ({ action: 'isolate', direction: one }))
}

type Members = Readonly<Record<string, unknown>>
const NO_MEMBERS: Members = {}

type Check = (value: unknown) => boolean

const isDirection = (value: unknown): value is Direction => DIRECTIONS.some((direction) => direction === value)
const isCidr: Check = (value) => typeof value === 'string' && parseCidr(value).ok
const isGroupOfRule: Check = (value) => value === EVERY_NODE_GROUP || isGroup(value)
const isPort: Check = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= PORT_MAX
const isRange: Check = (value) =>
  Array.isArray(value) && value.length === 2 && value.every(isPort) && Number(value[0]) <= Number(value[1])
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)

const ACCEPT: Readonly<Record<keyof AcceptEntry, Check>> = {
  action: (value) => value === 'accept',
  cidrs: listOf(isCidr),
  direction: isDirection,
  except_cidrs: listOf(isCidr),
  except_groups: listOf(isGroupOfRule),
  groups: listOf(isGroupOfRule),
  ports: listOf(isRange),
  protocol: (value) => RULE_PROTOCOLS.some((protocol) => protocol === value),
}

const ISOLATE: Readonly<Record<keyof IsolateEntry, Check>> = {
  action: (value) => value === 'isolate',
  direction: isDirection,
}

const isAccept = (rule: unknown): rule is AcceptEntry =>
  hasExactly(rule, ACCEPT) && (rule['protocol'] === 'tcp' || rule['protocol'] === 'udp' || isEmpty(rule['ports']))
const isIsolate = (rule: unknown): rule is IsolateEntry => hasExactly(rule, ISOLATE)

const isEmpty: Check = (value) => Array.isArray(value) && value.length === 0

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether the value has these members and no others. */
function hasExactly(value: unknown, checks: Readonly<Record<string, Check>>): value is Members {
  if (!isMembers(value)) return false
  const names = Object.keys(value)
  return (
    names.length === Object.keys(checks).length &&
    names.every((name) => Object.hasOwn(checks, name) && checks[name]?.(value[name]) === true)
  )
}
