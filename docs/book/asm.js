// Colours assembly. The highlighter of mdBook does not know the language, so it learns it here, and looks at these blocks once more.
"use strict";
if (globalThis.hljs) {
    hljs.registerLanguage("gcn", () => ({
        contains: [
            { className: "comment", begin: /;|\/\//, end: /$/ },
            { className: "string", begin: /"/, end: /"/ },
            { className: "symbol", begin: /^\s*[\w.$]+:/ },
            { className: "meta", begin: /^\s*\.\w+/ },
            { className: "keyword", begin: /^\s*(?:s|v|ds|buffer|tbuffer|global|flat|scratch)_\w+/ },
            { className: "built_in", begin: /\b(?:[svat]\d+\b|[svat](?=\[)|vcc\b|exec\b|m0\b|scc\b|off\b)/ },
            { className: "number", begin: /\b(?:0x[\da-f]+|\d+(?:\.\d+)?)\b/i },
        ],
    }));
    for (const block of document.querySelectorAll("code.asm")) {
        const { value } = hljs.highlight("gcn", block.textContent);
        block.innerHTML = value;
        block.classList.add("hljs");
    }
}
