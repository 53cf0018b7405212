import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.js';
import { applyTheme } from './app/theme.js';
import { language, setLanguage } from './text/language.js';
import './styles.css';

applyTheme();
setLanguage(language());
const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
