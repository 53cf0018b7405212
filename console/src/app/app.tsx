export function App() {
  return <h1>Toolgate</h1>;
}
