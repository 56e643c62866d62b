{{/* Names are fixed, not made of the release's: there is one Firetower a cluster (its CRDs, its agent on each node), */}}
{{/* `firetower` finds the hub by them, and a second release fails on the first object that is the other's. */}}

{{- define "firetower.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* What the schema cannot say as well: a name that YAML takes for a number, and values that each are right and do not go */}}
{{/* together, as one of them would be ignored. */}}
{{- define "firetower.check" -}}
{{- if not (has (kindOf .Values.cluster) (list "string" "invalid")) -}}
{{- fail "\n\ncluster is a number to YAML, which may lose digits of a name. Put it in quotes, cluster: \"123\", or give it with --set-string." -}}
{{- end -}}
{{- $repository := .Values.image.repository -}}
{{- if regexMatch "[:@]" (regexReplaceAll "^.*/" $repository "") -}}
{{- fail (printf "\n\nimage.repository=%s names a tag or a digest, and the chart adds the one of image.tag or image.digest: no such image could be pulled. Say image.repository=%s, and its tag as image.tag, or its digest as image.digest." $repository (regexReplaceAll "[:@][^/]*$" $repository "")) -}}
{{- end -}}
{{- if not .Values.store.url -}}
{{- range $name, $value := dict "store.secret.name" .Values.store.secret.name "store.ca.secret" .Values.store.ca.secret "hub.storeSecret.name" .Values.hub.storeSecret.name -}}
{{- if $value -}}
{{- fail (printf "\n\n%s=%s is for a bucket, and store.url names none: profiles would stay on the nodes, and the Secret would not be used. Say which bucket, store.url=s3://BUCKET, or leave %s out." $name $value $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $part, $tls := .Values.tls -}}
{{- if and $tls.secret $tls.volume -}}
{{- fail (printf "\n\ntls.%s.secret=%s and tls.%s.volume both say where the certificate is: one of them alone would count. Leave one out." $part $tls.secret $part) -}}
{{- end -}}
{{- end -}}
{{- $keys := "(access|secret)-key-file" -}}
{{- range list (list "store.secret.name" .Values.store.secret.name $keys) (list "hub.storeSecret.name" .Values.hub.storeSecret.name $keys) (list "store.ca.secret" .Values.store.ca.secret "ca-file") -}}
{{- $named := regexFind (printf "[?&]%s=" (index . 2)) ($.Values.store.url | default "") -}}
{{- if and (index . 1) $named -}}
{{- fail (printf "\n\nstore.url has the option %s, and %s=%s gives it as well: one of them alone would count. Leave one out." (trimAll "?&=" $named) (index . 0) (index . 1)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Annotations of pods, called with a dict of the root, those, and their port's name: a PodMonitor finds pods by itself, and who reads these too */}}
{{/* would scrape them twice. */}}
{{- define "firetower.podAnnotations" -}}
{{- $annotations := .annotations | default dict -}}
{{- if .root.Values.monitoring.podMonitor.enabled -}}
{{- $annotations = omit $annotations "prometheus.io/scrape" "prometheus.io/port" -}}
{{- else if and (eq .port "https") (hasKey $annotations "prometheus.io/scrape") -}}
{{- $annotations = merge (dict) $annotations (dict "prometheus.io/scheme" "https") -}}
{{- end -}}
{{- with $annotations -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}

{{/* The Secret of the bucket's keys, as YAML: the hub's own where it has one, for it alone may delete. */}}
{{- define "firetower.agentSecret" -}}
{{ toYaml .Values.store.secret }}
{{- end -}}

{{- define "firetower.hubSecret" -}}
{{- if .Values.hub.storeSecret.name -}}
{{ toYaml .Values.hub.storeSecret }}
{{- else -}}
{{ toYaml .Values.store.secret }}
{{- end -}}
{{- end -}}

{{/* These are called with a dict of the root, that secret, and the files' mode: the hub does not run as root and reads */}}
{{/* them by its group. */}}

{{/* The store with files of credentials, where there are such: no secret may stand in a URL, nor does one. */}}
{{- define "firetower.storeUrl" -}}
{{- $options := list -}}
{{- if .secret.name -}}
{{- $options = append $options (printf "access-key-file=/etc/firetower/store/%s" .secret.accessKey) -}}
{{- $options = append $options (printf "secret-key-file=/etc/firetower/store/%s" .secret.secretKey) -}}
{{- end -}}
{{- with .root -}}
{{- if .Values.store.ca.secret -}}
{{- $options = append $options (printf "ca-file=/etc/firetower/store-ca/%s" .Values.store.ca.key) -}}
{{- end -}}
{{- .Values.store.url -}}
{{- if $options -}}
{{- contains "?" .Values.store.url | ternary "&" "?" -}}{{- join "&" $options -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "firetower.storeMounts" -}}
{{- if and .root.Values.store.url .secret.name }}
- name: store-keys
  mountPath: /etc/firetower/store
  readOnly: true
{{- end }}
{{- if and .root.Values.store.url .root.Values.store.ca.secret }}
- name: store-ca
  mountPath: /etc/firetower/store-ca
  readOnly: true
{{- end }}
{{- end -}}

{{- define "firetower.storeVolumes" -}}
{{- if and .root.Values.store.url .secret.name }}
- name: store-keys
  secret:
    secretName: {{ .secret.name | quote }}
    defaultMode: {{ .mode }}
{{- end }}
{{- if and .root.Values.store.url .root.Values.store.ca.secret }}
- name: store-ca
  secret:
    secretName: {{ .root.Values.store.ca.secret | quote }}
    defaultMode: {{ .mode }}
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
  - port: {{ include "firetower.port" . }}
{{- end -}}

{{/* TLS of a server, called with a dict of its part of `tls` and the files' mode. Its port is called after what it speaks: */}}
{{/* `firetower` knows by the name how a hub is asked. */}}
{{- define "firetower.port" -}}
{{- if or .tls.secret .tls.volume }}https{{ else }}http{{ end -}}
{{- end -}}

{{- define "firetower.tlsArguments" -}}
{{- if eq (include "firetower.port" .) "https" }}
- --tls-cert-file=/etc/firetower/tls/tls.crt
- --tls-private-key-file=/etc/firetower/tls/tls.key
{{- end }}
{{- end -}}

{{- define "firetower.tlsMount" -}}
{{- if eq (include "firetower.port" .) "https" }}
- name: tls
  mountPath: /etc/firetower/tls
  readOnly: true
{{- end }}
{{- end -}}

{{- define "firetower.tlsVolume" -}}
{{- if .tls.secret }}
- name: tls
  secret:
    secretName: {{ .tls.secret | quote }}
    defaultMode: {{ .mode }}
{{- else if .tls.volume }}
- name: tls
  {{- toYaml .tls.volume | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A probe's question, called with a list of its path and the port's name; the kubelet verifies no certificate. */}}
{{- define "firetower.probe" -}}
httpGet:
  path: {{ index . 0 }}
  port: {{ index . 1 }}
  {{- if eq (index . 1) "https" }}
  scheme: HTTPS
  {{- end }}
{{- end -}}

{{/* How a PodMonitor asks; called with a dict of the root and the server's part of `tls`. */}}
{{- define "firetower.scrapeScheme" -}}
{{- if eq (include "firetower.port" .) "https" -}}
scheme: https
{{- with .root.Values.monitoring.podMonitor.tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What Prometheus takes of a target, as a PodMonitor says it. */}}
{{- define "firetower.scrapeLimits" -}}
{{- with .Values.monitoring.podMonitor.sampleLimit }}
  sampleLimit: {{ int . }}
{{- end }}
{{- with .Values.monitoring.podMonitor.labelLimit }}
  labelLimit: {{ int . }}
{{- end }}
{{- end -}}
