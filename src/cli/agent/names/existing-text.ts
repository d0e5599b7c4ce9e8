import { readFile, stat } from 'node:fs/promises'
import { systemCode } from '../errors.ts'

/** The text of a file; empty where it does not exist. */
export async function existingText(path: string): Promise<string> {
  return (await unlessMissing(readFile(path, 'utf8'))) ?? ''
}

/** Whether the file or folder exists. */
export async function exists(path: string): Promise<boolean> {
  return (await unlessMissing(stat(path))) !== undefined
}

async function unlessMissing<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}
