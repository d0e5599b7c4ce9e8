import { builtManifest } from '../../argv/built-manifest.ts'
import { bashScript } from '../../completion/bash.ts'
import { fishScript } from '../../completion/fish.ts'
import { outline } from '../../completion/outline.ts'
import { zshScript } from '../../completion/zsh.ts'
import { commandPage } from './page.ts'

/** The text of `docs/cli.md`. */
export function cliPage(): Promise<string> {
  return commandPage(builtManifest())
}

/** The text of `completions/ctl.bash`. */
export async function bashCompletion(): Promise<string> {
  return bashScript(await outline(builtManifest()))
}

/** The text of `completions/_ctl`. */
export async function zshCompletion(): Promise<string> {
  return zshScript(await outline(builtManifest()))
}

/** The text of `completions/ctl.fish`. */
export async function fishCompletion(): Promise<string> {
  return fishScript(await outline(builtManifest()))
}
