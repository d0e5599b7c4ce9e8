import { readFileSync } from 'node:fs'
import type { BaoAddress } from '../adapters/openbao/connection.ts'
import type { BaoSettings } from '../config/bao.ts'
import { BootError } from '../ports/boot-error.ts'

/** The address with its certificates. @throws BootError for a file that cannot be read; `option` names it. */
export function baoAddressOf({ url, namespace, caPath }: BaoSettings, option: string): BaoAddress {
  return { url, namespace, ca: caPath === undefined ? undefined : certificatesIn(caPath, option) }
}

function certificatesIn(path: string, option: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new BootError(1, `${option} names ${path}, which cannot be read.`, error)
  }
}
