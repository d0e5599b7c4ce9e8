import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { TlsFiles } from '../config/config.ts'
import { BootError } from '../ports/boot-error.ts'

/** A certificate chain and its private key, in PEM. */
export interface TlsMaterial {
  readonly cert: Buffer
  readonly key: Buffer
}

/**
 * Reads the certificate and the key, and makes sure that they fit together.
 * @throws BootError naming the file and what to do.
 */
export function readTls({ certPath, keyPath }: TlsFiles): TlsMaterial {
  const material = { cert: read(certPath, '--tls-cert'), key: read(keyPath, '--tls-key') }
  try {
    createSecureContext(material)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new BootError(
      1,
      `The certificate ${certPath} and the key ${keyPath} cannot be used together (${reason}); give PEM files that belong to each other.`,
      error,
    )
  }
  return material
}

function read(path: string, flag: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new BootError(1, `The file ${path} of ${flag} cannot be read (${code}); check the path and its mode.`, error)
  }
}
