import type { ComponentChildren, VNode } from 'preact'
import { Bar } from './bar.tsx'

/** The page before anyone is known to be signed in: the name of the console, and what there is to say. */
export function Frame({ children }: { readonly children: ComponentChildren }): VNode {
  return (
    <>
      <Bar />
      <main class="page narrow">{children}</main>
    </>
  )
}
