{{/* Names are fixed, not made of the release's: there is one Firetower a cluster (its CRDs, its agent on each node), */}}
{{/* `firetower` finds the hub by them, and a second release fails on the first object that is the other's. */}}

{{- define "firetower.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* The store with files of credentials, where there are such: no secret may stand in a URL, nor does one. */}}
{{- define "firetower.storeUrl" -}}
{{- $options := list -}}
{{- if .Values.store.secret.name -}}
{{- $options = append $options (printf "access-key-file=/etc/firetower/store/%s" .Values.store.secret.accessKey) -}}
{{- $options = append $options (printf "secret-key-file=/etc/firetower/store/%s" .Values.store.secret.secretKey) -}}
{{- end -}}
{{- if .Values.store.ca.secret -}}
{{- $options = append $options (printf "ca-file=/etc/firetower/store-ca/%s" .Values.store.ca.key) -}}
{{- end -}}
{{- .Values.store.url -}}
{{- if $options -}}
{{- contains "?" .Values.store.url | ternary "&" "?" -}}{{- join "&" $options -}}
{{- end -}}
{{- end -}}

{{- define "firetower.storeMounts" -}}
{{- if and .Values.store.url .Values.store.secret.name }}
- name: store-keys
  mountPath: /etc/firetower/store
  readOnly: true
{{- end }}
{{- if and .Values.store.url .Values.store.ca.secret }}
- name: store-ca
  mountPath: /etc/firetower/store-ca
  readOnly: true
{{- end }}
{{- end -}}

{{/* Called with a dict of the root and the files' mode: the hub does not run as root and reads them by its group. */}}
{{- define "firetower.storeVolumes" -}}
{{- with .root }}
{{- if and .Values.store.url .Values.store.secret.name }}
- name: store-keys
  secret:
    secretName: {{ .Values.store.secret.name | quote }}
    defaultMode: {{ $.mode }}
{{- end }}
{{- if and .Values.store.url .Values.store.ca.secret }}
- name: store-ca
  secret:
    secretName: {{ .Values.store.ca.secret | quote }}
    defaultMode: {{ $.mode }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Options by their names, in the order of the alphabet. Large numbers would be written as 1e+06 without toJson. */}}
{{- define "firetower.options" -}}
{{- range $name, $value := . }}
- {{ printf "--%s=%s" $name (kindIs "string" $value | ternary $value (toJson $value)) | quote }}
{{- end }}
{{- end -}}

{{/* Who may reach a port, as a NetworkPolicy says it; called with a dict of the root and further peers. */}}
{{- define "firetower.ingress" -}}
- from:
  - podSelector: {}
  {{- with .root.Values.networkPolicy.from }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with .more }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  ports:
  - port: http
{{- end -}}
