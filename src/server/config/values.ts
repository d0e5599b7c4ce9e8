import ipaddr from 'ipaddr.js'
import type { Rate } from '../ports/rates.ts'
import { CREDENTIAL_ENV } from '../../shared/credential-formats.ts'

/** A parsed value, or the end of an error sentence that begins with its place and says what was expected. */
export type Parsed<T> = { readonly value: T } | { readonly mustBe: string }

export interface Address {
  /** A name or an address, without brackets. */
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
}

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const ADDRESS = /^(?:\[([0-9a-f:.]+)\]|([^:\s[\]]*)):(\d{1,5})$/i
const SWITCH: Readonly<Record<string, boolean>> = { true: true, false: false, '1': true, '0': false }

/** `host:port` or `[v6]:port`; without a host it is loopback, never every interface. */
export function address(text: string): Parsed<Address> {
  const [, bracketed, bare, digits] = ADDRESS.exec(text) ?? []
  const port = Number(digits)
  const isWrong = digits === undefined || port > 65_535 || (bracketed !== undefined && !ipaddr.IPv6.isValid(bracketed))
  if (isWrong) return { mustBe: 'host:port, with a port from 0 to 65535' }
  return { value: { host: bracketed ?? (bare || '127.0.0.1'), port } }
}

/** `host:port` of another server, as a URL would have it. */
export function remoteAddress(text: string): Parsed<Address> {
  const parsed = address(text)
  const isOne = 'value' in parsed && parsed.value.port !== 0 && !text.startsWith(':')
  return isOne ? parsed : { mustBe: 'host:port, such as spicedb.example.com:50051' }
}

/** Whether only this machine can reach the host. Names other than localhost count as reachable. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback'
}

/** The origin of an http or https URL. */
export function origin(text: string): Parsed<string> {
  const mustBe = 'the origin of an http or https URL, such as https://ctl.example.com'
  if (!URL.canParse(text)) return { mustBe }
  const { protocol, origin: parsed, pathname, search, hash, username } = new URL(text)
  const isBare = pathname === '/' && search === '' && hash === '' && username === ''
  return isBare && (protocol === 'http:' || protocol === 'https:') ? { value: parsed } : { mustBe }
}

/** Comma-separated origins. */
export function origins(text: string): Parsed<readonly string[]> {
  return each(text, origin, 'origins such as https://ctl.example.com, separated by commas')
}

/** Comma-separated networks; a bare address is the network of itself. */
export function networks(text: string): Parsed<readonly string[]> {
  return each(text, network, 'CIDR networks such as 10.0.0.0/8, separated by commas')
}

function network(text: string): Parsed<string> {
  if (ipaddr.isValidCIDR(text)) return { value: text }
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return { mustBe: 'a network' }
  return { value: `${text}/${ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128}` }
}

/** Comma-separated hosts of https URLs, each with or without a port, as URLs spell them: in lower case, IPv6 in brackets. */
export function hosts(text: string): Parsed<readonly string[]> {
  return each(text, hostOfUrl, 'hosts such as acme.lan or 10.0.0.5:14000, separated by commas')
}

const HOST = /^(\[[0-9a-f:.]+\]|[^\s:/?#@[\]\\]+)(?::([1-9]\d{0,4}))?$/i

function hostOfUrl(text: string): Parsed<string> {
  const [, name = '', port] = HOST.exec(text) ?? []
  const isOne = URL.canParse(`https://${name}`) && Number(port ?? 1) <= 65_535
  if (!isOne) return { mustBe: 'a host' }
  const { hostname } = new URL(`https://${name}`)
  return { value: port === undefined ? hostname : `${hostname}:${port}` }
}

/** A PostgreSQL connection URL. The text never shows in the refusal, since it may hold a password. */
export function databaseUrl(text: string): Parsed<string> {
  const isOne = URL.canParse(text) && ['postgres:', 'postgresql:'].includes(new URL(text).protocol)
  return isOne ? { value: text } : { mustBe: 'a connection URL such as postgres://user@host:5432/ctl' }
}

/** Servers of one NATS cluster, and whether they are reached by TLS. */
export interface NatsServers {
  /** At least one. */
  readonly servers: readonly Address[]
  readonly scheme: 'nats' | 'tls'
}

const NATS_PORT = 4222

/** Comma-separated `nats://host:port` or `tls://host:port`. The text never shows in the refusal, since it may hold a password. */
export function natsUrls(text: string): Parsed<NatsServers> {
  const mustBe =
    'addresses such as nats://127.0.0.1:4222 or tls://nats.example.com, all of one kind, without credentials'
  const servers: Address[] = []
  const schemes = new Set<string>()
  for (const part of text.split(',')) {
    const url = URL.canParse(part.trim()) ? new URL(part.trim()) : undefined
    if (url === undefined || !isBareServer(url)) return { mustBe }
    schemes.add(url.protocol)
    servers.push({ host: url.hostname.replaceAll(/^\[|\]$/g, ''), port: Number(url.port || NATS_PORT) })
  }
  const [protocol] = schemes
  if (schemes.size !== 1 || (protocol !== 'nats:' && protocol !== 'tls:')) return { mustBe }
  return { value: { servers, scheme: protocol === 'tls:' ? 'tls' : 'nats' } }
}

function isBareServer({ hostname, username, password, pathname, search, hash }: URL): boolean {
  const extra = `${username}${password}${search}${hash}${pathname === '/' ? '' : pathname}`
  return hostname !== '' && extra === ''
}

/** Copies that a NATS cluster keeps. */
export function replicas(text: string): Parsed<number> {
  return /^[1-5]$/.test(text) ? { value: Number(text) } : { mustBe: 'a whole number from 1 to 5' }
}

const BYTE_SIZE = /^([1-9]\d{0,8})(MiB|GiB|TiB)$/
const BYTES: Readonly<Record<string, number>> = { MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 }
const TEBIBYTES_MAX = 1024

/** `500MiB`, `10GiB`, `2TiB`, in bytes. */
export function byteSize(text: string): Parsed<number> {
  const [, digits, unit = ''] = BYTE_SIZE.exec(text) ?? []
  const value = Number(digits) * (BYTES[unit] ?? 0)
  return value > 0 && value <= TEBIBYTES_MAX * 2 ** 40 ? { value } : { mustBe: 'a size such as 500MiB, 10GiB or 2TiB' }
}

/** Whether a connection URL holds a password, in its authority or its query. */
export function hasPassword(url: string): boolean {
  if (!URL.canParse(url)) return /:[^/@]*@|password=/i.test(url)
  const { password, searchParams } = new URL(url)
  return password !== '' || searchParams.has('password')
}

/** 32 bytes in base64. The text never shows in the refusal. */
export function masterKey(text: string): Parsed<Buffer> {
  const bytes = Buffer.from(text.trim(), 'base64')
  const isCanonical = bytes.length === 32 && bytes.toString('base64') === text.trim()
  return isCanonical ? { value: bytes } : { mustBe: '32 bytes in base64 (openssl rand -base64 32 makes one)' }
}

export function credentialEnv(text: string): Parsed<string> {
  return CREDENTIAL_ENV.test(text) ? { value: text } : { mustBe: '1 to 16 of a-z and 0-9' }
}

export function logLevel(text: string): Parsed<LogLevel> {
  const value = LOG_LEVELS.find((level) => level === text)
  return value === undefined ? { mustBe: `one of ${LOG_LEVELS.join(', ')}` } : { value }
}

/** Days for which audited decisions are kept. */
export function auditDays(text: string): Parsed<number> {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0
  return days >= 1 && days <= 3650 ? { value: days } : { mustBe: 'a whole number of days from 1 to 3650' }
}

/** Hints in a second. */
export function hintRate(text: string): Parsed<number> {
  const hints = /^\d{1,7}$/.test(text) ? Number(text) : 0
  return hints >= 1 && hints <= HINTS_MAX ? { value: hints } : { mustBe: 'a whole number from 1 to 1000000' }
}

const HINTS_MAX = 1_000_000

/** A number of connections. */
export function connections(text: string): Parsed<number> {
  return /^\d{1,4}$/.test(text) && Number(text) <= 1000
    ? { value: Number(text) }
    : { mustBe: 'a whole number from 0 to 1000' }
}

const DURATION = /^(?=\d)(?:(\d{1,4})h)?(?:(\d{1,4})m)?(?:(\d{1,6})s)?(?:(\d{1,9})ms)?$/
const DURATION_MS_MAX = 3_600_000

/** `30s`, `1m30s`, `500ms`, up to `1h`, in ms; 0 is none. */
export function duration(text: string): Parsed<number> {
  const mustBe = 'a duration such as 30s, 1m30s or 500ms, at most 1h, or 0'
  if (text === '0') return { value: 0 }
  const parts = DURATION.exec(text)
  if (parts === null) return { mustBe }
  const [hours, minutes, seconds, millis] = parts.slice(1).map((digits) => Number(digits ?? 0))
  const value = (hours ?? 0) * 3_600_000 + (minutes ?? 0) * 60_000 + (seconds ?? 0) * 1000 + (millis ?? 0)
  return value <= DURATION_MS_MAX ? { value } : { mustBe }
}

/** Time between two samples of the capacity of Domains, in ms. */
export function sampleInterval(text: string): Parsed<number> {
  const parsed = duration(text)
  const isFit = 'value' in parsed && parsed.value >= 1_000 && parsed.value <= 600_000
  return isFit ? parsed : { mustBe: 'a duration from 1s to 10m, such as 15s' }
}

/** A number of things to remember. */
export function entries(text: string): Parsed<number> {
  return /^\d{1,7}$/.test(text) && Number(text) <= 1_000_000
    ? { value: Number(text) }
    : { mustBe: 'a whole number from 0 to 1000000' }
}

const RATE = /^(\d{1,7})\/(s|min|h)$/
const SECONDS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600 }

/** `10/s`, `30/min`, `500/h`; 0 is no limit. */
export function rate(text: string): Parsed<Rate> {
  if (text === '0') return { value: { count: 0, seconds: 1 } }
  const [, digits, unit = ''] = RATE.exec(text) ?? []
  const seconds = SECONDS[unit]
  if (seconds === undefined) return { mustBe: 'a rate such as 10/s, 30/min or 500/h, or 0 for no limit' }
  return { value: { count: Number(digits), seconds } }
}

export function path(text: string): Parsed<string> {
  return text === '' || text.includes('\0') ? { mustBe: 'a path' } : { value: text }
}

export function on(text: string): Parsed<boolean> {
  const value = SWITCH[text]
  return value === undefined ? { mustBe: 'true or false' } : { value }
}

function each<T>(text: string, parse: (item: string) => Parsed<T>, mustBe: string): Parsed<readonly T[]> {
  const values: T[] = []
  for (const item of text.split(',').map((part) => part.trim())) {
    if (item === '') continue
    const parsed = parse(item)
    if ('mustBe' in parsed) return { mustBe }
    values.push(parsed.value)
  }
  return { value: values }
}

/** A path of an engine, an auth method or a namespace in the secret store: segments without a slash at either end. */
export function storePath(text: string): Parsed<string> {
  const isOne = text.length <= 256 && /^[\w.-]+(?:\/[\w.-]+)*$/.test(text) && !/(?:^|\/)\.\.?(?:\/|$)/.test(text)
  return isOne ? { value: text } : { mustBe: 'a path such as secret or team/secret' }
}

/** A key of a Transit engine: where it is. */
export interface TransitUrl {
  readonly origin: string
  /** Path of the engine. */
  readonly mount: string
  readonly key: string
}

/** `https://host/<path of the engine>/<name of the key>`. */
export function transitKey(text: string): Parsed<TransitUrl> {
  const mustBe = 'the URL of a key of a Transit engine, such as https://bao.example.com:8200/transit/ctl'
  if (!URL.canParse(text)) return { mustBe }
  const { protocol, origin: parsed, pathname, search, hash, username, password } = new URL(text)
  const isBare = `${search}${hash}${username}${password}` === '' && (protocol === 'http:' || protocol === 'https:')
  const inEngine = pathname.slice(1)
  const isPath = 'value' in storePath(inEngine) && inEngine.includes('/') && !inEngine.startsWith('v1/')
  if (!isBare || !isPath) return { mustBe }
  const at = inEngine.lastIndexOf('/')
  return { value: { origin: parsed, mount: inEngine.slice(0, at), key: inEngine.slice(at + 1) } }
}

/** Where signing keys come from. */
export function signerKind(text: string): Parsed<'sealed' | 'transit'> {
  return text === 'sealed' || text === 'transit' ? { value: text } : { mustBe: 'sealed or transit' }
}

/** A name that is no secret, such as a role. */
export function roleName(text: string): Parsed<string> {
  return /^[\x21-\x7e]{1,256}$/.test(text) ? { value: text } : { mustBe: 'at most 256 visible characters' }
}
