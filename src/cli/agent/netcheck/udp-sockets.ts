import { readFile } from 'node:fs/promises'
import { systemCode } from '../errors.ts'

/** Whether a socket of this network namespace has that UDP port, of the kernel's WireGuard as well. */
export async function isPortBound(port: number, tables = ['/proc/net/udp', '/proc/net/udp6']): Promise<boolean> {
  const texts = await Promise.all(tables.map(textOf))
  return texts.some((text) => portsIn(text).has(port))
}

/** `local_address` of a line is `address:port` in hexadecimal (proc(5)). */
function portsIn(table: string): ReadonlySet<number> {
  return new Set(
    [...table.matchAll(/^ *\d+: [0-9A-F]+:([0-9A-F]{4}) /gm)].map(([, port]) => Number.parseInt(port ?? '', 16)),
  )
}

/** A machine without IPv6 has no second table. */
async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return ''
    throw error
  }
}
