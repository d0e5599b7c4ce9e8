import type { ComponentChildren, VNode } from 'preact'

interface BarProps {
  /** What stands beside the name of the console. */
  readonly children?: ComponentChildren
  /** Below both. */
  readonly below?: ComponentChildren
}

/** The head of every page, which begins with the name of the console. */
export function Bar({ children, below }: BarProps): VNode {
  return (
    <header class="bar">
      <div class="bar-inner">
        <span class="brand">
          ctl <span>console</span>
        </span>
        {children}
      </div>
      {below}
    </header>
  )
}
