import type { ComponentChildren, VNode } from 'preact'

/** The page before anyone is known to be signed in: the name of the console, and what there is to say. */
export function Frame({ children }: { readonly children: ComponentChildren }): VNode {
  return (
    <>
      <header class="bar">
        <div class="bar-inner">
          <span class="brand">
            ctl <span>console</span>
          </span>
        </div>
      </header>
      <main class="page narrow">{children}</main>
    </>
  )
}
