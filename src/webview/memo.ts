// Renders a component again only when one of its properties has changed.
import { Component, type ComponentChildren, type FunctionComponent, h } from 'preact';

type Same<P> = (before: Readonly<P>, after: Readonly<P>) => boolean;

export function memo<P extends object>(component: FunctionComponent<P>, same: Same<P> = sameProperties) {
  return class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      return !same(this.props, next);
    }

    override render(): ComponentChildren {
      return h(component, this.props);
    }
  };
}

function sameProperties(before: object, after: object): boolean {
  const left = Object.entries(before);
  const right = new Map(Object.entries(after));
  return left.length === right.size && left.every(([name, value]) => Object.is(value, right.get(name)));
}
