export function SessionsPage() {
  return <h1>SessionsPage</h1>;
}
