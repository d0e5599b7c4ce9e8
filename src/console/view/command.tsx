import type { VNode } from 'preact'
import { asTyped } from '../model/typed.ts'

/** How the command line is typed: the page of the server names it. */
const commandName = (): string => document.querySelector('meta[name="ctl-command"]')?.getAttribute('content') ?? 'ctl'

/** Commands to type, one a line, each beginning with `ctl`. */
export function Command({ text }: { readonly text: string }): VNode {
  return (
    <pre>
      <code>{asTyped(text, commandName())}</code>
    </pre>
  )
}

/** A command within a sentence. */
export function InlineCommand({ text }: { readonly text: string }): VNode {
  return <code>{asTyped(text, commandName())}</code>
}
