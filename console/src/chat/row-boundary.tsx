import { Component, type ErrorInfo, type ReactNode } from 'react';
import { useText } from '../text/language.js';
import { ErrorNote } from '../ui/error-note.js';
import { Link } from '../ui/router.js';
import { strings } from './strings.js';

interface Props {
  /** What is drawn: another one is tried again. */
  of: unknown;
  children: ReactNode;
}

/** A row that cannot be drawn takes no other row with it, and not the question that may wait on it. */
export class RowBoundary extends Component<Props, { failed: unknown; caught: boolean }> {
  override state = { failed: undefined, caught: false };

  static getDerivedStateFromError(): { caught: boolean } {
    return { caught: true };
  }

  override componentDidCatch(error: unknown, { componentStack }: ErrorInfo): void {
    console.error('A row failed', error, componentStack);
    this.setState({ failed: this.props.of });
  }

  override componentDidUpdate(): void {
    const { caught, failed } = this.state;
    if (caught && failed !== undefined && failed !== this.props.of) {
      this.setState({ caught: false, failed: undefined });
    }
  }

  override render(): ReactNode {
    return this.state.caught ? <NotShown /> : this.props.children;
  }
}

function NotShown() {
  const text = useText(strings);
  return (
    <div className="pt-3">
      <ErrorNote message={text.rowFailed} action={<Link to="#/inbox">{text.openInbox}</Link>} />
    </div>
  );
}
